package imports

import (
	"strings"

	"github.com/miekg/dns"
)

// Served returns the records of a zone that a node can serve, the other records with the reason, and the SOA record
// (nil if missing).
func Served(records []dns.RR, zone string) (served []dns.RR, left []Deviation, soa *dns.SOA) {
	cuts := map[string]bool{}
	for _, rr := range records {
		owner := dns.CanonicalName(rr.Header().Name)
		switch rr := rr.(type) {
		case *dns.NS:
			if owner != zone {
				cuts[owner] = true
			}
		case *dns.SOA:
			if owner == zone {
				soa = rr
			}
		}
	}
	for _, rr := range records {
		if why := refusal(rr, zone, cuts); why != "" {
			left = append(left, Deviation{strings.ReplaceAll(rr.String(), "\t", " "), why})
			continue
		}
		served = append(served, rr)
	}
	return served, left, soa
}

// refusal returns why a node cannot serve a record, or "" if it can. cuts are the delegated names.
func refusal(rr dns.RR, zone string, cuts map[string]bool) string {
	owner := dns.CanonicalName(rr.Header().Name)
	for name := owner; len(name) > len(zone); {
		if cuts[name] {
			return "delegations are not served: delegate " + name + " in the zone above, or keep it where it is"
		}
		next, end := dns.NextLabel(name, 0)
		if end {
			break
		}
		name = name[next:]
	}
	switch t := rr.Header().Rrtype; {
	case !dns.IsSubDomain(zone, owner):
		return "it is outside the zone"
	case rr.Header().Class != dns.ClassINET:
		return "its class is not IN"
	case t == dns.TypeSOA && owner != zone:
		return "it is the SOA of another zone"
	case t == dns.TypeDS:
		return "delegations are not served"
	case t == dns.TypeDNAME:
		return "aliases of whole subtrees are not served: write a CNAME per name"
	case t == dns.TypeDNSKEY, t == dns.TypeCDS, t == dns.TypeCDNSKEY, t == dns.TypeRRSIG, t == dns.TypeNSEC,
		t == dns.TypeNSEC3, t == dns.TypeNSEC3PARAM:
		return "the node signs with its own keys"
	}
	return ""
}
