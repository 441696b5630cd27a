package config

import (
	"cmp"
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/model"
)

// DNS contains the keys of the DNS server and its zones.
type DNS struct {
	// The addresses for DNS queries, UDP and TCP: an IP address and a port, or `:port` for all addresses. `0.0.0.0` is all
	// IPv4 addresses and `[::]` all IPv6 addresses, so that both may have the same port.
	ListenAddress []string `key:"listen_address,single" default:":53" reload:"restart"`
	// The TTL in seconds of the answers of domains without `ttl`.
	DefaultTTL int `key:"default_ttl" default:"30" reload:"live" min:"0" max:"2147483647"`
	// The minimum TTL in seconds of the answers of domains. `min_ttl` and `max_ttl` limit `ttl` and `default_ttl`.
	// `min_ttl` must not be greater than `max_ttl`. Static records of zones have the TTL of their definition.
	MinTTL int `key:"min_ttl" default:"0" reload:"live" min:"0" max:"2147483647"`
	// The maximum TTL in seconds of the answers of domains. See `min_ttl`.
	MaxTTL int `key:"max_ttl" default:"2147483647" reload:"live" min:"1" max:"2147483647"`
	// The TTL in seconds of negative answers (RFC 2308). Default: `default_ttl`, but at most 300.
	NegativeTTL *int `key:"negative_ttl" reload:"live" min:"0" max:"86400"`
	// The TTL in seconds of the generated records at the apex of a zone: SOA, NS, DNSKEY, CDS and CDNSKEY. After a restart
	// with a lower value, wait for the previous TTL before you start a key rollover.
	ApexTTL int `key:"apex_ttl" default:"3600" reload:"restart" min:"1" max:"604800"`
	// The maximum size of a response over UDP in octets. A client with a smaller limit receives smaller responses, at
	// least 512 octets. Clients retry truncated queries over TCP. Responses above 1232 may be fragmented, and fragments
	// can be lost or forged.
	MaxUDPSize int `key:"max_udp_size" default:"1232" reload:"live" min:"512" max:"4096"`
	// Whether the node answers with the last healthy backends of a domain if all its backends are down, instead of
	// SERVFAIL.
	ReturnLastHealthy bool `key:"return_last_healthy" reload:"live"`
	// The name server identifier (NSID, RFC 5001), such as the node's id. At most 64 characters. Default: no NSID.
	NSID          string        `key:"nsid" reload:"restart"`
	RateLimit     RateLimit     `key:"rate_limit" reload:"restart"`
	ProxyProtocol ProxyProtocol `key:"proxy_protocol" reload:"restart"`
	Dnstap        Dnstap        `key:"dnstap"`
	QueryLog      QueryLog      `key:"query_log"`
	Update        Update        `key:"update"`
	Resolver      Resolver      `key:"resolver" reload:"restart"`
	// The zones for which the node is authoritative, each a name or the keys below. A domain outside all of them is a
	// separate zone.
	Zones []Zone `key:"zones" reload:"live"`
}

// Update contains the keys of [DNS UPDATE](dns.md#updates).
type Update struct {
	// The lifetime of records that DNS UPDATE adds to names that begin with `_acme-challenge`; 0s: no end.
	ChallengeExpiry time.Duration `key:"challenge_expiry" default:"24h" reload:"live" min:"0s" max:"8760h"`
}

// defaultNegativeTTL is the highest default of the TTL of negative answers, in seconds.
const defaultNegativeTTL = 300

// TTL returns the TTL of a domain's answers in seconds. own is the setting of the domain, or 0.
func (d *DNS) TTL(own int) int {
	ttl := max(cmp.Or(own, d.DefaultTTL), d.MinTTL)
	if d.MaxTTL > 0 { // otherwise unset
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

// Resolver contains the keys of the resolution of `target`, the host names of servers.
type Resolver struct {
	// The addresses and ports of DNS resolvers. The node queries them in this order until one answers. At most 8. Default:
	// the resolvers of the machine.
	Servers []string `key:"servers"`
	// The minimum time between two queries for a target. It applies if the TTL of the records is shorter. It must not be
	// greater than `max_ttl`.
	MinTTL time.Duration `key:"min_ttl" default:"5s" min:"1s" max:"24h"`
	// The maximum time between two queries for a target. It applies if the TTL of the records is longer.
	MaxTTL time.Duration `key:"max_ttl" default:"5m" min:"1s" max:"24h"`
}

// RateLimit contains the keys of the response rate limit (RRL) for identical responses over UDP to a client network.
type RateLimit struct {
	// The maximum number of identical responses over UDP per second to a client network (an IPv4 /24, an IPv6 /56); 0:
	// unlimited. TCP, loopback and clients with a cookie of this server are not limited.
	ResponsesPerSecond int `key:"responses_per_second" default:"1000" min:"0" max:"1000000000"`
	// The interval N of truncated responses above the limit: one in N responses has no records and the TC flag, so that
	// legitimate clients retry over TCP. The other responses are dropped. 0: all are dropped; 1: all have the TC
	// flag.
	Slip int `key:"slip" default:"2" min:"0" max:"100"`
	// Client networks without a limit, such as the networks of large forwarders.
	ExemptCIDRs []netip.Prefix `key:"exempt_cidrs"`
}

// ProxyProtocol contains the keys of the [PROXY protocol](dns.md#proxies), version 2, for DNS over UDP and TCP.
type ProxyProtocol struct {
	// The networks of proxies, such as dnsdist and HAProxy. Each message over UDP and each TCP connection of these
	// networks must start with a header, which has the address of the client. The node drops messages and closes
	// connections without a header. Other networks must not send a header. At most 64 networks. Default: none.
	Networks []netip.Prefix `key:"networks"`
}

// Zone is a zone for which this node is authoritative. In the file it is a name or a map of keys.
type Zone struct {
	// The apex, such as `gslb.example.com`. Required and unique.
	Name string `key:"name"`
	// The names of the NS records. Default: the NS records of `file` at the apex, or the node's own name under the zone.
	Nameservers []string `key:"nameservers"`
	// The mail address of the administrator in the SOA record. Default: the address in the SOA record of `file`, or
	// hostmaster at the zone.
	Admin string `key:"admin"`
	// Additional records as lines of a zone file: TXT, MX, CAA, CNAME, SRV...
	Records []string `key:"records"`
	// A zone file (RFC 1035) with additional records. A relative path starts at the folder of the configuration file with
	// this key. Included files must be in the folder of the zone file or below. A reload reads the zone file. At most 16
	// MiB, 1000 files, 100,000 records and a million names, including empty non-terminals. See [Zone
	// files](dns.md#zone-files).
	File string `key:"file"`
	// The TTL in seconds of the SOA and NS records of this zone. Default: `dns.apex_ttl`. Signing keys always have the TTL
	// `dns.apex_ttl`.
	ApexTTL *int `key:"apex_ttl" min:"1" max:"604800"`
	// The TTL in seconds of negative answers of this zone. Default: `dns.negative_ttl`.
	NegativeTTL *int `key:"negative_ttl" min:"0" max:"86400"`
	// FromFile contains the records of File, without the SOA and NS records of the apex. Load sets it.
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

// Uses reports whether holds returns true for the routing algorithm or the fallback algorithm of a domain.
func Uses(d *Domain, holds func(*policy.Algorithm) bool) bool {
	for _, name := range []string{d.RoutingAlgorithm, d.FallbackAlgorithm} {
		if a := policy.FindAlgorithm(name); a != nil && holds(a) {
			return true
		}
	}
	return false
}
