package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// refusedTypes are the types that records[] cannot have, and why.
var refusedTypes = map[uint16]string{
	dns.TypeSOA:        "the SOA is made from the zone's nameservers and admin",
	dns.TypeNS:         "the zone's nameservers go under its key nameservers; delegations to other servers are not served: delegate in the parent zone",
	dns.TypeDS:         "it belongs to a delegation, and delegations are not served: put it into the parent zone",
	dns.TypeDNAME:      "aliases of whole subtrees are not served; write a CNAME per name",
	dns.TypeDNSKEY:     "signing makes it",
	dns.TypeCDS:        "signing makes it",
	dns.TypeCDNSKEY:    "signing makes it",
	dns.TypeRRSIG:      "signing makes it",
	dns.TypeNSEC:       "signing makes it",
	dns.TypeNSEC3:      "signing makes it",
	dns.TypeNSEC3PARAM: "signing makes it",
}

// records reads the zone-file lines of a zone and checks each record against what the zone has already.
func (p *plan) records(z *zonePlan, lines []string) {
	for i, line := range lines {
		key := fmt.Sprintf("%s.records[%d]", z.key, i)
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			p.wrong(key, line, "a blank at the beginning stands for the owner of a line before, and each line stands alone here; begin with the owner")
			continue
		}
		parser := dns.NewZoneParser(strings.NewReader(line), z.Apex, "")
		parser.SetDefaultTTL(p.ttl(0))
		count := 0
		for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
			count++
			if remedy := p.unfit(z, rr); remedy != "" {
				p.wrong(key, line, "%s", remedy)
				continue
			}
			z.add(rr)
		}
		if err := parser.Err(); err != nil {
			p.wrong(key, line, "not a line of a zone file (%s); write for example \"www 300 CNAME app\"", strings.TrimPrefix(err.Error(), "dns: "))
		} else if count == 0 {
			p.wrong(key, line, "no record in it; write for example \"@ TXT \\\"v=spf1 -all\\\"\"")
		}
	}
}

// unfit says why a record cannot be in the zone, or nothing.
func (p *plan) unfit(z *zonePlan, rr dns.RR) string {
	owner, rtype := fqdn(rr.Header().Name), rr.Header().Rrtype
	why, refused := refusedTypes[rtype]
	types := z.types[owner]
	steered := z.steered[owner]
	switch in := p.enclosing(owner); {
	case rr.Header().Class != dns.ClassINET:
		return "its class is not IN; leave the class out"
	case refused:
		return fmt.Sprintf("%s records do not go here: %s", dns.TypeToString[rtype], why)
	case !dns.IsSubDomain(z.Apex, owner):
		return fmt.Sprintf("%s is not in the zone %s; move it to the zone it belongs to", owner, z.Apex)
	case in != z:
		return fmt.Sprintf("%s is in the zone %s; move it there", owner, in.Apex)
	case rr.Header().Ttl > maxTTL:
		return fmt.Sprintf("TTL %d: a TTL is at most %d seconds (RFC 2181 section 8)", rr.Header().Ttl, maxTTL)
	case steered && (rtype == dns.TypeA || rtype == dns.TypeAAAA || rtype == dns.TypeCNAME):
		return fmt.Sprintf("%s is a domain, whose addresses are steered; remove the record or the domain", owner)
	case rtype == dns.TypeCNAME && len(types) > 0, slices.Contains(types, dns.TypeCNAME):
		return fmt.Sprintf("%s has other records, and an alias has none beside it (RFC 1034 section 3.6.2)", owner)
	}
	return ""
}

// maxTTL is the longest TTL there is.
const maxTTL = 1<<31 - 1
