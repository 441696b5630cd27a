package publish

import (
	"fmt"
	"slices"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
)

// servers returns the backends of a domain. If answers are alias targets, it returns only addresses of targets.
func (d *domain) servers(all []*registry.Backend) []*registry.Backend {
	if !d.rules.AnswerNames {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(b *registry.Backend) bool { return b.Host().Name == "" })
}

// steers reports whether a name of the zone has load-balanced records of a type other than A and AAAA.
func (z *zonePlan) steers(name string, rtype uint16) bool {
	return slices.ContainsFunc(z.Types[name], func(t *zone.Type) bool { return t.Number == rtype })
}

// checkAliases adds a problem for each domain with answer: cname at the apex of a zone.
func (p *plan) checkAliases() {
	for _, d := range p.domains {
		if !d.rules.AnswerNames || d.name != d.zone {
			continue
		}
		why := "give a name below it, or leave answer out"
		if d.outside {
			why = "no zone of dns.zones has this name, so it makes a zone of its own: add the zone above it to dns.zones, or " +
				"leave answer out"
		}
		p.wrong(fmt.Sprintf("domains[%d].answer", p.number(d)), config.AnswerCNAME,
			"%s is the apex of a zone, which has SOA and NS records, and an alias has nothing beside it (RFC 1034 section "+
				"3.6.2): %s", d.written, why)
	}
}

// number returns the index of a domain in the settings.
func (p *plan) number(d *domain) (number int) {
	for i, c := range p.settings.allDomains {
		if c.Name == d.written {
			number = i
		}
	}
	return number
}
