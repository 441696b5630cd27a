package publish

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/state/config"
)

// Times in the SOA and NS records of a zone, in seconds. Zones are not transferred, so refresh, retry and expire only
// satisfy zone checkers.
const (
	soaRefresh = 3600
	soaRetry   = 600
	soaExpire  = 7 * 24 * 3600
)

// ownNameserver returns the name of this node as a name server, which is the default in a zone.
func (p *plan) ownNameserver(z *zonePlan) string {
	if z.Apex == "." {
		return nodeLabel(p.settings.NodeID) + "."
	}
	return nodeLabel(p.settings.NodeID) + "." + z.Apex
}

// authority returns the SOA and NS records of a zone.
//
// Without configured nameservers, a node lists only itself, which is correct for a single node. Nodes that share a zone
// have equal nameserver lists, so that all return the NS records of the parent.
func (p *plan) authority(z *zonePlan, from config.Zone) {
	for i, name := range from.Nameservers {
		if !isHost(name) {
			p.wrong(
				fmt.Sprintf("%s.nameservers[%d]", z.key, i),
				name,
				"not a host name; write it in full, such as ns1.%s",
				z.Apex,
			)
			continue
		}
		z.nameservers = append(z.nameservers, fqdn(name))
	}
	if len(z.nameservers) == 0 {
		z.nameservers = []string{p.ownNameserver(z)}
	}
	admin := "hostmaster." + z.Apex
	if from.Admin != "" {
		name, ok := mailbox(from.Admin)
		if !ok {
			p.wrong(
				z.key+".admin",
				from.Admin,
				"neither a mail address nor a domain name; write one such as hostmaster@example.com",
			)
		}
		admin = name
	}
	z.SOA = &dns.SOA{
		Hdr: header(z.Apex, dns.TypeSOA, p.apexTTL(z)), Ns: z.nameservers[0], Mbox: admin,
		Refresh: soaRefresh, Retry: soaRetry, Expire: soaExpire, Minttl: p.negativeTTL(z),
	}
	for _, name := range z.nameservers {
		z.add(&dns.NS{Hdr: header(z.Apex, dns.TypeNS, p.apexTTL(z)), Ns: name})
	}
}

// apexTTL returns the TTL of the SOA and NS records of a zone, in seconds.
func (p *plan) apexTTL(z *zonePlan) uint32 {
	if z.from.ApexTTL != nil {
		return uint32(max(*z.from.ApexTTL, 0))
	}
	return p.settings.DNS.Apex()
}

// negativeTTL returns the TTL of negative answers of a zone, in seconds.
func (p *plan) negativeTTL(z *zonePlan) uint32 {
	if z.from.NegativeTTL != nil {
		return uint32(max(*z.from.NegativeTTL, 0))
	}
	return uint32(max(p.settings.DNS.Negative(), 0))
}

// ownAddresses adds the address records of this node's nameserver. If the zone has an address or CNAME record of the
// name, it adds nothing. The records of the zone must have been read.
func (p *plan) ownAddresses(z *zonePlan) {
	own := p.ownNameserver(z)
	if !slices.Contains(z.nameservers, own) || z.has(own) || slices.ContainsFunc(z.types[own], func(rtype uint16) bool {
		return rtype == dns.TypeA || rtype == dns.TypeAAAA || rtype == dns.TypeCNAME
	}) {
		return
	}
	// The name has addresses even if they are unknown, as in a check of the configuration.
	z.types[own] = append(z.types[own], dns.TypeA)
	private := 0
	for _, address := range p.settings.Addresses {
		if isPrivate(address) {
			private++
		}
		if address.Is4() {
			z.add(&dns.A{Hdr: header(own, dns.TypeA, p.apexTTL(z)), A: address.AsSlice()})
		} else {
			z.add(&dns.AAAA{Hdr: header(own, dns.TypeAAAA, p.apexTTL(z)), AAAA: address.AsSlice()})
		}
	}
	if private > 0 {
		p.caution("%s: the name server %s has no address record, and this node has no public address: the node answers "+
			"%v, which resolvers on the Internet cannot reach; add a line such as \"%s A 192.0.2.1\" to the records of the zone",
			cmp.Or(z.key, "the zone "+z.Apex), own, p.settings.Addresses[:min(len(p.settings.Addresses), maxNamed)], own)
	}
}

// maxNamed is the maximum number of addresses in a warning.
const maxNamed = 4

func header(owner string, rtype uint16, ttl uint32) dns.RR_Header {
	return dns.RR_Header{Name: owner, Rrtype: rtype, Class: dns.ClassINET, Ttl: ttl}
}

// add adds a record and its type.
func (z *zonePlan) add(rr dns.RR) {
	owner, rtype := fqdn(rr.Header().Name), rr.Header().Rrtype
	z.static = append(z.static, rr)
	if !slices.Contains(z.types[owner], rtype) { // an owner may have 100 000 records
		z.types[owner] = append(z.types[owner], rtype)
	}
}

// checkNameservers adds a problem for each unusable nameserver: a name in a zone of this node without an address (RFC
// 1912 section 2.8), or an alias (RFC 2181 section 10.3).
func (p *plan) checkNameservers(z *zonePlan) {
	for i, name := range z.nameservers {
		in := p.enclosing(name)
		if in == nil || in.has(name) && !in.steers(name, dns.TypeCNAME) {
			continue
		}
		key := fmt.Sprintf("%s.nameservers[%d]", z.key, i)
		switch types := in.types[name]; {
		case slices.Contains(types, dns.TypeCNAME), in.steers(name, dns.TypeCNAME):
			p.wrong(
				key,
				name,
				"a nameserver must not be an alias; answer %s with addresses instead of a CNAME",
				name,
			)
		case !slices.Contains(types, dns.TypeA) && !slices.Contains(types, dns.TypeAAAA):
			p.wrong(
				key,
				name,
				"it lies in the zone %s but has no address there; add a line such as \"%s A 192.0.2.1\" to the records of that "+
					"zone",
				in.Apex,
				name,
			)
		}
	}
}
