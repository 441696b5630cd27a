package config

import (
	"cmp"
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/model"
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
	// Octets of the longest answer over UDP; a client that takes less gets less, and 512 at least. What is longer is
	// asked for again over TCP. With more than 1232, answers may be fragmented on their way, and fragments are lost or
	// forged.
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
	// The resolvers, addresses with ports, asked one after the other until one answers. At most 8. Default: those of
	// the machine.
	Servers []string `key:"servers"`
	// The shortest time between two questions for a target, whatever the TTL of its records. `min_ttl` must not be
	// greater than `max_ttl`.
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
	// A zone file (RFC 1035) with further records, relative to the file that names it; read again by a reload. Files
	// that it includes are in its folder or below. At most 16 MiB, 1000 files, 100 000 records and a million names,
	// with those that only have others below them. See [Zone files](dns.md#zone-files).
	File string `key:"file"`
	// Seconds that a resolver may keep the SOA and NS records of this zone. Default: `dns.apex_ttl`, which signing keys
	// always have.
	ApexTTL *int `key:"apex_ttl" min:"1" max:"604800"`
	// Seconds that a resolver may keep the answer that a name or a type of this zone does not exist. Default:
	// `dns.negative_ttl`.
	NegativeTTL *int `key:"negative_ttl" min:"0" max:"86400"`
	// FromFile are the records of File, without the SOA and the NS records of the apex. Load reads them.
	FromFile []zonefile.Record
}

// The declarations of objects are those of package model.
type (
	Region        = model.Region
	Server        = model.Server
	HealthCheck   = model.HealthCheck
	Domain        = model.Domain
	HTTPS         = model.HTTPS
	Proximity     = model.Proximity
	ClientHash    = model.ClientHash
	LatencyConfig = model.LatencyConfig
)

// Values of Domain.Answer.
const (
	AnswerAddress = model.AnswerAddress
	AnswerCNAME   = model.AnswerCNAME
)

// Uses reports whether holds returns true for the routing algorithm of a domain or for its fallback algorithm.
func Uses(d *Domain, holds func(*policy.Algorithm) bool) bool {
	for _, name := range []string{d.RoutingAlgorithm, d.FallbackAlgorithm} {
		if a := policy.FindAlgorithm(name); a != nil && holds(a) {
			return true
		}
	}
	return false
}
