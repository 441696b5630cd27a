package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/settings"
)

// refusedTypes are the types that records[] must not contain, with the reason.
var refusedTypes = map[uint16]string{
	dns.TypeSOA: "the SOA is made from the zone's nameservers and admin",
	dns.TypeNS: "the zone's nameservers go under its key nameservers; delegations to other servers are not " +
		"served: delegate in the parent zone",
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

// records parses the zone-file lines and the zone file of a zone and checks each record against the previous records.
// Then it adds the address records of this node's nameserver.
func (p *plan) records(z *zonePlan) {
	var aliases []alias
	for _, r := range z.from.FromFile {
		aliases = p.record(z, aliases, settings.Entry(z.key+".file", r.At()), r.Text, r.RR)
	}
	for i, line := range z.from.Records {
		key := fmt.Sprintf("%s.records[%d]", z.key, i)
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			p.wrong(
				key,
				line,
				"a blank at the beginning stands for the owner of a line before, and each line stands alone here; begin with "+
					"the owner",
			)
			continue
		}
		parser := dns.NewZoneParser(strings.NewReader(line), z.Apex, "")
		parser.SetDefaultTTL(p.ttl(0))
		count := 0
		for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
			count++
			aliases = p.record(z, aliases, key, line, rr)
		}
		if err := parser.Err(); err != nil {
			p.wrong(
				key,
				line,
				"not a line of a zone file (%s); write for example \"www 300 CNAME app\"",
				strings.TrimPrefix(err.Error(), "dns: "),
			)
		} else if count == 0 {
			p.wrong(key, line, "no record in it; write for example \"@ TXT \\\"v=spf1 -all\\\"\"")
		}
	}
	z.aliases = make(map[string]string, len(aliases))
	for _, a := range aliases {
		z.aliases[a.owner] = a.target
	}
	p.ownAddresses(z)
	p.checkAliasChains(aliases)
	p.checkWildcardAliases(z, aliases)
	p.checkSizes(z)
}

// checkSizes adds a problem for each RRset that exceeds the size of an answer.
func (p *plan) checkSizes(z *zonePlan) {
	type name struct {
		owner string
		rtype uint16
	}
	nameOf := func(rr dns.RR) name { return name{fqdn(rr.Header().Name), rr.Header().Rrtype} }
	octets := make(map[name]int)
	for _, rr := range z.static {
		octets[nameOf(rr)] += dns.Len(rr)
	}
	for _, rr := range z.static {
		set := nameOf(rr)
		if octets[set] <= zone.MaxSet { // the set fits, or was already checked
			continue
		}
		octets[set] = 0
		records := slices.DeleteFunc(slices.Clone(z.static), func(rr dns.RR) bool { return nameOf(rr) != set })
		if err := zone.CheckFits(z.Apex, records); err != nil {
			p.wrong(z.key, z.from.Name, "%v: remove some", err)
		}
	}
}

// record adds a valid record to a zone. It adds an alias to aliases too.
func (p *plan) record(z *zonePlan, aliases []alias, key, line string, rr dns.RR) []alias {
	rr, err := zonefile.Plain(rr)
	if err != nil {
		p.wrong(key, line, "it cannot be sent: %s", strings.TrimPrefix(err.Error(), "dns: "))
		return aliases
	}
	if remedy := p.refusal(z, rr); remedy != "" {
		p.wrong(key, line, "%s", remedy)
		return aliases
	}
	z.add(rr)
	if rr, ok := rr.(*dns.CNAME); ok {
		aliases = append(aliases, alias{key: key, line: line, owner: fqdn(rr.Hdr.Name), target: fqdn(rr.Target)})
	}
	return aliases
}

// alias is a CNAME record of a zone with its source line.
type alias struct{ key, line, owner, target string }

// checkAliasChains adds a problem for each loop of aliases and each chain that exceeds the maximum, because their
// answer is SERVFAIL.
func (p *plan) checkAliasChains(aliases []alias) {
	targets, told := make(map[string]string, len(aliases)), make(map[string]bool)
	for _, a := range aliases {
		targets[a.owner] = a.target
	}
	for _, a := range aliases {
		var chain []string
		name, more := a.owner, true
		for more && !told[name] && !slices.Contains(chain, name) && len(chain) <= zone.MaxAliases {
			chain = append(chain, name)
			name, more = targets[name]
		}
		switch {
		case !more || told[name]:
			continue
		case slices.Contains(chain, name):
			p.wrong(
				a.key,
				a.line,
				"aliases in a circle (%s): no address is ever found; let one of them lead out of it",
				strings.Join(append(chain, name), ", "),
			)
		default:
			p.wrong(
				a.key,
				a.line,
				"more than %d aliases in a row, so the answer would be SERVFAIL; let it lead to %s directly",
				zone.MaxAliases,
				name,
			)
		}
		for _, name := range chain {
			told[name] = true
		}
	}
}

// checkWildcardAliases adds a warning for each wildcard alias that leads to itself: "*.x CNAME a.x" does while a.x does
// not exist. It is not a problem of the configuration, because the API can create a domain with that name.
func (p *plan) checkWildcardAliases(z *zonePlan, aliases []alias) {
	if !slices.ContainsFunc(aliases, func(a alias) bool { return strings.HasPrefix(a.owner, "*.") }) {
		return
	}
	targets, there := make(map[string]string, len(aliases)), make(map[string]bool, len(z.types)+len(z.Balanced))
	for _, a := range aliases {
		targets[a.owner] = a.target
	}
	for name := range z.types {
		z.exists(there, name)
	}
	for _, name := range z.Balanced {
		z.exists(there, name)
	}
	told := make(map[string]bool)
	for _, a := range aliases {
		var chain []string
		on := make(map[string]bool)
		name, wild := a.owner, false
		for name != "" && !told[name] && !on[name] && p.enclosing(name) == z {
			chain, on[name] = append(chain, name), true
			if !there[name] {
				for name = parent(name); !there[name]; name = parent(name) {
				}
				name, wild = "*."+name, true
			}
			name = targets[name]
		}
		if wild && on[name] {
			p.caution(
				"%s: aliases in a circle through a wildcard (%s) are answered SERVFAIL, until one of these names has a record "+
					"or is a domain",
				a.key,
				strings.Join(append(slices.Clone(chain[:min(len(chain), zone.MaxAliases)]), name), ", "),
			)
		}
		for _, name := range chain {
			told[name] = true
		}
	}
}

// exists records a name of the zone and its ancestors.
func (z *zonePlan) exists(there map[string]bool, name string) {
	for ; !there[name]; name = parent(name) {
		there[name] = true
		if name == z.Apex {
			return
		}
	}
}

// refusal returns the reason for rejecting a record in the zone, with a remedy; "" if the record is valid.
func (p *plan) refusal(z *zonePlan, rr dns.RR) string {
	owner, rtype := fqdn(rr.Header().Name), rr.Header().Rrtype
	why, refused := refusedTypes[rtype]
	types := z.types[owner]
	steered := z.has(owner)
	switch in := p.enclosing(owner); {
	case rr.Header().Class != dns.ClassINET:
		return "its class is not IN; leave the class out"
	case rtype == 0 || rtype == dns.TypeOPT || 128 <= rtype && rtype <= 255: // RFC 6895 section 3.1
		return fmt.Sprintf("%s is no type of data: it is used only in queries and messages", dns.Type(rtype))
	case refused:
		return fmt.Sprintf("%s records do not go here: %s", dns.TypeToString[rtype], why)
	case !dns.IsSubDomain(z.Apex, owner):
		return fmt.Sprintf("%s is not in the zone %s; move it to the zone it belongs to", owner, z.Apex)
	case in != z:
		return fmt.Sprintf("%s is in the zone %s; move it there", owner, in.Apex)
	case rr.Header().Ttl > maxTTL:
		return fmt.Sprintf("TTL %d: a TTL is at most %d seconds (RFC 2181 section 8)", rr.Header().Ttl, maxTTL)
	case z.steers(owner, dns.TypeCNAME):
		return fmt.Sprintf("%s is a domain with answer: cname, and an alias has no other records (RFC 1034 section 3.6.2); "+
			"remove the record, or leave answer out", owner)
	case z.steers(owner, dns.TypeSRV):
		if rtype == dns.TypeSRV || rtype == dns.TypeCNAME {
			return fmt.Sprintf("%s has the SRV records of a domain with srv; remove the record, or take the service out of srv",
				owner)
		}
	case steered && (rtype == dns.TypeA || rtype == dns.TypeAAAA || rtype == dns.TypeCNAME):
		return fmt.Sprintf("%s is a load-balanced domain; remove the record or the domain", owner)
	case z.steers(owner, rtype):
		return fmt.Sprintf("%s is a domain with %s records; remove the record, or the setting of the domain", owner,
			dns.TypeToString[rtype])
	case rtype == dns.TypeCNAME && len(types) > 0, slices.Contains(types, dns.TypeCNAME):
		return fmt.Sprintf("%s has other records, and an alias has no other records (RFC 1034 section 3.6.2)", owner)
	}
	return ""
}

// maxTTL is the maximum TTL in seconds (RFC 2181 section 8).
const maxTTL = 1<<31 - 1
