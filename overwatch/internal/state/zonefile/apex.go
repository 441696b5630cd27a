package zonefile

import (
	"strings"

	"github.com/miekg/dns"
)

// Authority contains the records of a zone file by their use: the data of SOA and NS at the apex, and all other
// records.
type Authority struct {
	Nameservers []Nameserver
	Admin       string   // the mailbox of the SOA, as a domain name; "" without one
	Rest        []Record // all other records
}

// Nameserver is an NS record of the apex.
type Nameserver struct{ Name, At string }

// Apex separates the SOA and NS records of the apex from the other records.
func Apex(records []Record, apex string) Authority {
	var a Authority
	apex = dns.Fqdn(apex)
	for _, r := range records {
		at := strings.EqualFold(r.RR.Header().Name, apex)
		switch rr := r.RR.(type) {
		case *dns.SOA:
			if at && a.Admin == "" {
				a.Admin = rr.Mbox
				continue
			}
		case *dns.NS:
			if at {
				a.Nameservers = append(a.Nameservers, Nameserver{strings.TrimSuffix(rr.Ns, "."), r.At()})
				continue
			}
		}
		a.Rest = append(a.Rest, r)
	}
	return a
}
