package publish

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// srvNames returns the names at which a domain has SRV records (RFC 2782), in the order of its settings.
func srvNames(c *config.Domain) (names []string) {
	for _, service := range c.SRV {
		names = append(names, fqdn(service+"."+c.Name))
	}
	return names
}

// srvTypes returns the two types of SRV records with "0 PART PORT NAME": for the decision for IPv4, and for IPv6, which
// is used if the domain has no IPv4 backend. NAME is the domain, which has load-balanced addresses.
func srvTypes(d *domain) (types []*zone.Type) {
	target := make([]byte, len(d.name)+1)
	end, err := dns.PackDomainName(d.name, target, 0, nil, false)
	if err != nil {
		return nil // unreachable: the plan has checked the name
	}
	for _, addresses := range zone.AddressTypes {
		types = append(types, &zone.Type{
			Number: dns.TypeSRV, Family: addresses.Family, Length: 6 + end, DecisionOf: d.name,
			Data: func(to []byte, due policy.Member) []byte {
				to = binary.BigEndian.AppendUint16(append(to, 0, 0), uint16(due.Parts))
				return append(binary.BigEndian.AppendUint16(to, due.Port), target[:end]...)
			},
		})
	}
	return types
}

// byPort returns decisions with ports instead of addresses. An answer contains all ports. Explanations contain only the
// decisions for addresses.
func byPort(decisions [][2]policy.Decision) [][2]policy.Decision {
	out := slices.Clone(decisions)
	for i := range out {
		for f := range out[i] {
			toPorts(&out[i][f])
		}
	}
	return out
}

// choicesByPort is byPort for answers that depend on client positions.
func choicesByPort(choices [2]zone.LocationDecisions) [2]zone.LocationDecisions {
	for f := range choices {
		list := slices.Clone(choices[f].Decisions)
		for i := range list {
			toPorts(&list[i])
		}
		choices[f].Decisions = list
	}
	return choices
}

func toPorts(d *policy.Decision) { d.Members, d.Hashed, d.Input = d.Ports, false, nil }

// editSRV records the names of SRV records that are added, removed or changed when a domain replaces the previous
// domain. Either may be nil.
func (p *plan) editSRV(was, now *domain) {
	stays := was != nil && now != nil && was.zone == now.zone
	if was != nil {
		for _, name := range was.srv {
			if !stays || !slices.Contains(now.srv, name) {
				e := p.edit(was.zone)
				e.gone = append(e.gone, name)
			}
		}
	}
	if now == nil || len(now.srv) == 0 {
		return
	}
	e, types := p.edit(now.zone), srvTypes(now)
	for _, name := range now.srv {
		e.setTypes(name, types)
		if stays && slices.Contains(was.srv, name) {
			e.renewed = append(e.renewed, name)
		} else {
			e.come = append(e.come, name)
		}
	}
}

// setTypes records the types of a name with types other than addresses.
func (e *edit) setTypes(name string, types []*zone.Type) {
	if e.types == nil {
		e.types = make(map[string][]*zone.Type)
	}
	e.types[name] = types
}

// sortNames sorts the names. A name that changes between domain and SRV records is a changed name.
func (e *edit) sortNames() {
	slices.Sort(e.come)
	slices.Sort(e.gone)
	e.come = slices.DeleteFunc(e.come, func(name string) bool {
		at, both := slices.BinarySearch(e.gone, name)
		if both {
			e.gone, e.renewed = slices.Delete(e.gone, at, at+1), append(e.renewed, name)
		}
		return both
	})
}

// checkSRV adds a problem for each invalid name of SRV records.
func (p *plan) checkSRV() {
	owners := make(map[string]*domain)
	for _, d := range p.domains {
		for _, name := range d.srv {
			owners[name] = d
			if !isName(name) {
				p.wrongSRV(d, name, "the name would be too long: an SRV name has at most 255 octets")
			} else if z := p.enclosing(name); z == nil || z.Apex != d.zone {
				p.wrongSRV(d, name, "%s belongs to another zone than %s: take the service out of srv, or the zone out of "+
					"dns.zones", name, d.written)
			}
		}
	}
	if len(owners) == 0 {
		return
	}
	for _, d := range p.domains {
		if with := owners[d.name]; with != nil {
			p.wrongSRV(with, d.name, "has the SRV records of %s and is a domain itself: take the service out of srv, or remove "+
				"this domain", with.written)
		}
	}
}

func (p *plan) wrongSRV(d *domain, name, format string, args ...any) {
	p.wrong(fmt.Sprintf("domains[%d].srv", p.number(d)), name, format, args...)
}
