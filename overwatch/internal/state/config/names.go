package config

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/settings/healthcheck"
)

// DNS holds the keys of the DNS server and its zones.
type DNS struct {
	// Where queries are answered, UDP and TCP: an IP address and a port, or `:port` for all addresses. `0.0.0.0` is
	// every IPv4 address and `[::]` every IPv6 address, so that both may have the port.
	ListenAddress []string `key:"listen_address,single" default:":53" reload:"restart"`
	// Seconds that an answer may be kept, for domains without `ttl`.
	DefaultTTL int `key:"default_ttl" default:"30" reload:"live" min:"0" max:"2147483647"`
	// The least and the most seconds that an answer of a domain may be kept, whatever its `ttl` or `default_ttl` says;
	// `min_ttl` must not be greater than `max_ttl`. Records of zones keep the TTL that is written with them.
	MinTTL int `key:"min_ttl" default:"0" reload:"live" min:"0" max:"2147483647"`
	// See `min_ttl`.
	MaxTTL int `key:"max_ttl" default:"2147483647" reload:"live" min:"1" max:"2147483647"`
	// Seconds that a resolver may keep the answer that a name or a type does not exist (RFC 2308). Default: as
	// `default_ttl`, but at most 300.
	NegativeTTL *int `key:"negative_ttl" reload:"live" min:"0" max:"86400"`
	// Seconds that a resolver may keep the records that the node makes at the apex of a zone: SOA, NS, DNSKEY, CDS and
	// CDNSKEY. After a lower value counts, begin no change of keys until the time of the one before has passed.
	ApexTTL int `key:"apex_ttl" default:"3600" reload:"restart" min:"1" max:"604800"`
	// Octets of the longest answer over UDP; a client that takes less gets less, and 512 at least. What is longer is asked
	// for again over TCP. With more than 1232, answers may be fragmented on their way, and fragments are lost or forged.
	MaxUDPSize int `key:"max_udp_size" default:"1232" reload:"live" min:"512" max:"4096"`
	// When all backends of a domain are down: whether those that were healthy last are answered, instead of SERVFAIL.
	ReturnLastHealthy bool `key:"return_last_healthy" reload:"live"`
	// The answer to resolvers that ask which server answered (NSID, RFC 5001), such as the node's id. At most 64
	// characters; left out: none.
	NSID      string    `key:"nsid" reload:"restart"`
	RateLimit RateLimit `key:"rate_limit" reload:"restart"`
	Resolver  Resolver  `key:"resolver" reload:"restart"`
	// The zones that the node is authoritative for, each a name or the keys below. A domain outside all of them makes a
	// zone of its own.
	Zones []Zone `key:"zones" reload:"live"`
}

// defaultNegativeTTL bounds the TTL of negative answers where no setting gives one, in seconds.
const defaultNegativeTTL = 300

// TTL returns the seconds that an answer of a domain may be kept whose own setting is given, 0 for none.
func (d *DNS) TTL(own int) int {
	ttl := max(cmp.Or(own, d.DefaultTTL), d.MinTTL)
	if d.MaxTTL > 0 { // else nothing has set it
		ttl = min(ttl, d.MaxTTL)
	}
	return ttl
}

// Apex returns the seconds that the records which the node makes at an apex may be kept.
func (d *DNS) Apex() uint32 { return uint32(cmp.Or(d.ApexTTL, defaultApexTTL)) }

// defaultApexTTL is the default of apex_ttl, for settings that no file has filled.
const defaultApexTTL = 3600

// Negative returns the seconds that a negative answer may be kept.
func (d *DNS) Negative() int {
	if d.NegativeTTL != nil {
		return *d.NegativeTTL
	}
	return min(d.TTL(0), defaultNegativeTTL)
}

// SameTTLs reports whether both have the same TTLs in force.
func (d *DNS) SameTTLs(other *DNS) bool {
	return d.DefaultTTL == other.DefaultTTL && d.MinTTL == other.MinTTL && d.MaxTTL == other.MaxTTL &&
		d.Negative() == other.Negative()
}

// Resolver holds the keys of the resolution of `target`, the host names of servers.
type Resolver struct {
	// The resolvers, addresses with ports, asked one after the other until one answers. At most 8. Default: those of the
	// machine.
	Servers []string `key:"servers"`
	// The shortest time between two questions for a target, whatever the TTL of its records. `min_ttl` must not be greater
	// than `max_ttl`.
	MinTTL time.Duration `key:"min_ttl" default:"5s" min:"1s" max:"24h"`
	// The longest time between two questions for a target, whatever the TTL of its records.
	MaxTTL time.Duration `key:"max_ttl" default:"5m" min:"1s" max:"24h"`
}

// RateLimit bounds identical answers over UDP to one client network.
type RateLimit struct {
	// How many identical answers over UDP a client network (an IPv4 /24, an IPv6 /56) gets per second from the node; 0:
	// any number. TCP, loopback and clients with a cookie of this server are not limited.
	ResponsesPerSecond int `key:"responses_per_second" default:"1000" min:"0" max:"1000000000"`
	// Of the answers above that, one in this many is sent without records and with the TC flag, which brings honest
	// clients to TCP; the others are dropped. 0: all are dropped; 1: none is.
	Slip int `key:"slip" default:"2" min:"0" max:"100"`
	// Networks whose clients are not limited, such as those of forwarders that ask for many.
	ExemptCIDRs []netip.Prefix `key:"exempt_cidrs"`
}

// Zone is one zone this node is authoritative for: in the file either its name alone or all of its keys.
type Zone struct {
	// The apex, such as `gslb.example.com`. Required; each once.
	Name string `key:"name"`
	// Names for the NS records; default: those that `file` has at the apex, or the node's own name under the zone.
	Nameservers []string `key:"nameservers"`
	// Mail address of the administrator, for the SOA; default: that of the SOA in `file`, or hostmaster at the zone.
	Admin string `key:"admin"`
	// Further records as lines of a zone file: TXT, MX, CAA, CNAME, SRV...
	Records []string `key:"records"`
	// A zone file (RFC 1035) with further records, relative to the file that names it; read again by a reload. Files that
	// it includes are in its folder or below. At most 16 MiB, 1000 files, 100 000 records and a million names,
	// with those that only have others below them. See [Zone files](dns.md#zone-files).
	File string `key:"file"`
	// FromFile are the records of File, without the SOA and the NS records of the apex. Load reads them.
	FromFile []zonefile.Record
}

// Region is a place with servers in it, and the clients that it is near to.
type Region struct {
	// Letters, digits, hyphens, underscores, dots; at most 64. Required; case counts.
	Name string `key:"name"`
	// Countries whose clients are near: ISO 3166-1, two capitals.
	Countries []string `key:"countries"`
	// Continents whose clients are near: AF, AN, AS, EU, NA, OC, SA.
	Continents []string `key:"continents"`
	// With `longitude` or not at all.
	Latitude *float64 `key:"latitude" min:"-90" max:"90" unit:"degrees"`
	// With `latitude` or not at all.
	Longitude *float64 `key:"longitude" min:"-180" max:"180" unit:"degrees"`
	// How backends inside the region are chosen for domains whose algorithm chooses a region first (`failover`,
	// `geolocation`, `proximity`): `weighted`, `round-robin`, `latency` or `client-hash`. Left out: `weighted`.
	RoutingAlgorithm string `key:"routing_algorithm"`
	// proximity: makes the region seem nearer to clients than it is, in percent of the distance, as in Amazon Route 53;
	// below 0: farther away.
	ProximityBias int `key:"proximity_bias" min:"-99" max:"99"`
	// The place of the region for `failover` domains that list no `regions`: the lowest is asked first, of equal ones that
	// whose name comes first.
	Priority int `key:"priority" min:"0" max:"1000000"`
	// Backends that are known beforehand.
	Servers []Server `key:"servers"`
	// How servers without a `health_check` of their own are probed; without this block too: by a tcp connection, with the
	// node's `check_interval` and `check_timeout`. `address` is not allowed here: all servers of the region would be
	// probed at one address.
	HealthCheck *HealthCheck `key:"health_check"`

	disabled bool // by the API
}

// Server is a backend that the configuration declares.
type Server struct {
	// IPv4 or IPv6. Required, or `target`.
	Address netip.Addr `key:"address"`
	// A host name in place of `address`, such as `app-1234.eu.example.net`: each address that it has, 32 at most, is a
	// backend of its own, and they share `weight` equally. See [host names](routing.md#backends-by-host-name).
	Target string `key:"target"`
	// The networks where addresses of `target` may be. Default: where those of agents may be
	// (`overwatch.agent_policies`), but never loopback, link-local and what clouds have for metadata.
	AllowedCIDRs []netip.Prefix `key:"allowed_cidrs"`
	// Required.
	Port uint16 `key:"port"`
	// Share of the answers, relative to the others.
	Weight int `key:"weight" default:"100" min:"1" max:"1000"`
	// The domain that it serves. Left out: every domain that lists the region.
	Service string `key:"service"`
	// Host header of its http checks; a `host` in its own `health_check` comes first.
	Host string `key:"host"`
	// Id of the agent whose own server this is. What any other agent says does not count against the node's own checks
	// that succeed, and its drains and warnings do not count at all: see
	// [when a backend may answer](../README.md#when-a-backend-may-answer).
	Agent string `key:"agent"`
	// How this server is probed, in place of the region's block as a whole.
	HealthCheck *HealthCheck `key:"health_check"`
}

// Domain is one name whose answers are steered.
type Domain struct {
	// The name; `*.` before it makes a wildcard. Required; each once.
	Name string `key:"name"`
	// How the domain's backends are chosen: `round-robin`, `weighted`, `failover`, `geolocation`, `proximity`, `latency`
	// or `client-hash`; see [routing](routing.md).
	RoutingAlgorithm string `key:"routing_algorithm" default:"round-robin"`
	// The domain's regions, in order of preference.
	Regions []string `key:"regions"`
	// Seconds that an answer may be kept; 0: `dns.default_ttl`.
	TTL int `key:"ttl" min:"0" max:"2147483647"`
	// How many different addresses an answer has at most. With more than 100, names have more records than resolvers of
	// BIND take; from some 60 IPv4 or 35 IPv6 addresses on answers no longer fit into a datagram, and resolvers ask
	// again over TCP.
	MaxAnswers int `key:"max_answers" default:"1" min:"1"`
	// When all backends are down, or fewer than `min_healthy` up: `servfail`, `last_healthy` or `all`. Left out: as
	// `dns.return_last_healthy` says.
	OnAllDown string `key:"on_all_down"`
	// How many of the domain's backends must be fit to serve, in all its regions: a number, `2`, or a part of all,
	// `"50%"`, rounded up. A new backend, by a reload, the API or an agent, counts only from its first verdict on, so
	// adding servers takes no name to its last resort. With fewer, the name is answered by `on_all_down` rather than pile
	// all traffic onto what is left; `last_healthy` then means those that are fit and the ones lost last. 1 to 1000, or
	// 1% to 100%.
	MinHealthy string `key:"min_healthy"`
	// false: answers are not signed although `overwatch.dnssec.enabled` is true. A zone is signed as a whole or not at
	// all, so this must hold for all domains of the zone, and the zone must have no `records`. Take the DS records out of
	// the parent zone first. Left out: as `overwatch.dnssec.enabled` says.
	DNSSECEnabled *bool `key:"dnssec_enabled"`
	// failover: serving backends that a region needs.
	FailoverThreshold int `key:"failover_threshold" default:"1" min:"1" max:"1000"`
	// Another of them, for clients and moments that `geolocation`, `proximity` or `latency` knows too little of.
	FallbackAlgorithm string        `key:"fallback_algorithm"`
	LatencyConfig     LatencyConfig `key:"latency_config"`
	Proximity         Proximity     `key:"proximity"`
	ClientHash        ClientHash    `key:"client_hash"`
	Brake             DomainBrake   `key:"brake"`
	HTTPS             HTTPS         `key:"https"`
	// What the answers are: `address`, the addresses of servers; or `cname`, the name of a server's `target`, as a CNAME
	// for clients to follow. All servers of the domain then have a `target`, nothing else stands at the name, and it is
	// not the apex of a zone. An answer has one name, whatever `max_answers` is. See
	// [answers that are names](dns.md#answers-that-are-names).
	Answer string `key:"answer" default:"address"`
	// Services, such as `_sip._tcp`, of which the domain has [SRV records](dns.md#srv-records): the ports of backends
	// that serve. At most 8. All servers of the domain then listen at one port.
	SRV []string `key:"srv"`
}

// The values of answer.
const (
	AnswerAddress = "address"
	AnswerCNAME   = "cname"
)

// AnswersNames reports whether the answers of the domain are the names of its targets.
func (d *Domain) AnswersNames() bool { return d.Answer == AnswerCNAME }

// HTTPS holds the contents of a domain's HTTPS records (RFC 9460), beside the addresses, which are those of backends
// that may serve.
type HTTPS struct {
	// Protocols that all its backends speak besides HTTP/1.1, such as `h2` and `h3`. With them the domain is answered
	// with [HTTPS records](dns.md#https-records) as well. Left out: it has none. `max_answers` is then at most 16.
	ALPN []string `key:"alpn"`
	// Where all its backends listen; 0: 443.
	Port int `key:"port" min:"0" max:"65535"`
	// ECHConfigList of its backends in base64, for Encrypted Client Hello.
	ECH string `key:"ech"`
}

// Equal reports whether two domains have the same HTTPS records but for addresses.
func (h *HTTPS) Equal(other *HTTPS) bool {
	return h.Port == other.Port && h.ECH == other.ECH && slices.Equal(h.ALPN, other.ALPN)
}

// Unsigned reports whether the domain is not to be signed although the node signs.
func (d *Domain) Unsigned() bool { return d.DNSSECEnabled != nil && !*d.DNSSECEnabled }

// Uses reports whether holds returns true for the domain's algorithm or its fallback.
func (d *Domain) Uses(holds func(*policy.Algorithm) bool) bool {
	for _, name := range []string{d.RoutingAlgorithm, d.FallbackAlgorithm} {
		if a := policy.Named(name); a != nil && holds(a) {
			return true
		}
	}
	return false
}

// Proximity tunes routing by distance.
type Proximity struct {
	// proximity: regions that are at most so many kilometres farther away than the nearest share with it.
	ToleranceKm float64 `key:"tolerance_km" default:"100" min:"0" max:"20038" unit:"kilometres"`
}

// ClientHash tunes client-hash: the number of leading bits of its address that make a client's network.
type ClientHash struct {
	// client-hash: leading bits of an IPv4 address that make a client's network.
	IPv4Prefix int `key:"ipv4_prefix" default:"24" min:"8" max:"32"`
	// client-hash: the same of an IPv6 address.
	IPv6Prefix int `key:"ipv6_prefix" default:"56" min:"16" max:"64"`
}

// LatencyConfig tunes routing by latency.
type LatencyConfig struct {
	// latency: weight of the newest measurement, above 0 and up to 1.
	SmoothingFactor float64 `key:"smoothing_factor" default:"0.3"`
	// latency: slower backends are left out.
	MaxLatencyMs int `key:"max_latency_ms" default:"500" min:"1" max:"60000"`
	// latency: measurements before a backend's latency counts.
	MinSamples int `key:"min_samples" default:"3" min:"1" max:"1000"`
}

// HealthCheck is the configuration of a check.
type HealthCheck = healthcheck.Block
