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
	// TTL in seconds of the answers of domains without `ttl`.
	DefaultTTL int `key:"default_ttl" default:"30" reload:"live" min:"0" max:"2147483647"`
	// The lowest and the highest TTL of an answer of a domain in seconds; they bound `ttl` and `default_ttl`. `min_ttl`
	// must not be greater than `max_ttl`. Static records of zones have the TTL of their definition.
	MinTTL int `key:"min_ttl" default:"0" reload:"live" min:"0" max:"2147483647"`
	// See `min_ttl`.
	MaxTTL int `key:"max_ttl" default:"2147483647" reload:"live" min:"1" max:"2147483647"`
	// TTL in seconds of negative answers (RFC 2308). Default: `default_ttl`, but at most 300.
	NegativeTTL *int `key:"negative_ttl" reload:"live" min:"0" max:"86400"`
	// TTL in seconds of the generated records at the apex of a zone: SOA, NS, DNSKEY, CDS and CDNSKEY. After a restart
	// with a lower value, begin no key rollover until the previous TTL has passed.
	ApexTTL int `key:"apex_ttl" default:"3600" reload:"restart" min:"1" max:"604800"`
	// The maximum size of a response over UDP in octets. A client with a smaller limit receives smaller responses, at
	// least 512 octets. Clients repeat truncated queries over TCP. Above 1232, responses may be fragmented, and fragments
	// are lost or forged.
	MaxUDPSize int `key:"max_udp_size" default:"1232" reload:"live" min:"512" max:"4096"`
	// Whether a domain with all backends down is answered with the last healthy backends, instead of SERVFAIL.
	ReturnLastHealthy bool `key:"return_last_healthy" reload:"live"`
	// The name server identifier (NSID, RFC 5001), such as the node's id. At most 64 characters; default: none.
	NSID      string    `key:"nsid" reload:"restart"`
	RateLimit RateLimit `key:"rate_limit" reload:"restart"`
	Resolver  Resolver  `key:"resolver" reload:"restart"`
	// The zones that the node is authoritative for, each a name or the keys below. A domain outside all of them is a
	// separate zone.
	Zones []Zone `key:"zones" reload:"live"`
}

// defaultNegativeTTL is the highest default of the TTL of negative answers, in seconds.
const defaultNegativeTTL = 300

// TTL returns the TTL of the answers of a domain in seconds. own is the setting of the domain; 0: unset.
func (d *DNS) TTL(own int) int {
	ttl := max(cmp.Or(own, d.DefaultTTL), d.MinTTL)
	if d.MaxTTL > 0 { // else unset
		ttl = min(ttl, d.MaxTTL)
	}
	return ttl
}

// Apex returns the TTL of the generated records at an apex in seconds.
func (d *DNS) Apex() uint32 { return uint32(cmp.Or(d.ApexTTL, defaultApexTTL)) }

// defaultApexTTL is the default of apex_ttl, for settings without a file.
const defaultApexTTL = 3600

// Negative returns the TTL of negative answers in seconds.
func (d *DNS) Negative() int {
	if d.NegativeTTL != nil {
		return *d.NegativeTTL
	}
	return min(d.TTL(0), defaultNegativeTTL)
}

// SameTTLs reports whether both have the same effective TTLs.
func (d *DNS) SameTTLs(other *DNS) bool {
	return d.DefaultTTL == other.DefaultTTL && d.MinTTL == other.MinTTL && d.MaxTTL == other.MaxTTL &&
		d.Negative() == other.Negative()
}

// Resolver holds the keys of the resolution of `target`, the host names of servers.
type Resolver struct {
	// The resolvers, addresses with ports, queried in this order until one answers. At most 8. Default: the resolvers of
	// the machine.
	Servers []string `key:"servers"`
	// The shortest time between two queries for a target, whatever the TTL of its records. `min_ttl` must not be
	// greater than `max_ttl`.
	MinTTL time.Duration `key:"min_ttl" default:"5s" min:"1s" max:"24h"`
	// The longest time between two queries for a target, whatever the TTL of its records.
	MaxTTL time.Duration `key:"max_ttl" default:"5m" min:"1s" max:"24h"`
}

// RateLimit bounds identical answers over UDP to one client network.
type RateLimit struct {
	// The number of identical responses over UDP per second from the node to a client network (an IPv4 /24, an IPv6 /56);
	// 0: unlimited. TCP, loopback and clients with a cookie of this server are not limited.
	ResponsesPerSecond int `key:"responses_per_second" default:"1000" min:"0" max:"1000000000"`
	// One in this number of responses above the limit is sent without records and with the TC flag, so that real clients
	// use TCP. The other responses are dropped. 0: all are dropped; 1: none is dropped.
	Slip int `key:"slip" default:"2" min:"0" max:"100"`
	// Networks of clients without a limit, such as the networks of large forwarders.
	ExemptCIDRs []netip.Prefix `key:"exempt_cidrs"`
}

// Zone is a zone that this node is authoritative for. In the file it is a name or a map of keys.
type Zone struct {
	// The apex, such as `gslb.example.com`. Required; each once.
	Name string `key:"name"`
	// Names for the NS records; default: the NS records of `file` at the apex, or the node's own name under the zone.
	Nameservers []string `key:"nameservers"`
	// Mail address of the administrator, for the SOA; default: the address in the SOA of `file`, or hostmaster at the
	// zone.
	Admin string `key:"admin"`
	// Further records as lines of a zone file: TXT, MX, CAA, CNAME, SRV...
	Records []string `key:"records"`
	// A zone file (RFC 1035) with further records, relative to the configuration file that names it; a reload reads it.
	// Included files must be in its folder or below. At most 16 MiB, 1000 files, 100 000 records and a million names,
	// including empty non-terminals. See [Zone files](dns.md#zone-files).
	File string `key:"file"`
	// TTL in seconds of the SOA and NS records of this zone. Default: `dns.apex_ttl`, which is always the TTL of signing
	// keys.
	ApexTTL *int `key:"apex_ttl" min:"1" max:"604800"`
	// TTL in seconds of negative answers of this zone. Default: `dns.negative_ttl`.
	NegativeTTL *int `key:"negative_ttl" min:"0" max:"86400"`
	// FromFile are the records of File, without the SOA and the NS records of the apex. Load reads them.
	FromFile []zonefile.Record
}

// Package model declares the objects.
type (
	Region        = model.Region
	CustomMapping = model.Mapping
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
