package publish

import (
	"fmt"
	"maps"
	"slices"
)

// leaveUnsigned determines the zones without signatures on a signing node: zones with domains that are all unsigned,
// and without configured records. Other zones are signed, which is safe for all names; validating resolvers would
// reject a zone that lost its signatures.
func (p *plan) leaveUnsigned(before *plan) {
	unsigned := make(map[string]*domain)
	for _, d := range p.domains {
		if d.unsigned {
			unsigned[d.zone] = d
		}
	}
	if len(unsigned) == 0 {
		p.resigned = slices.ContainsFunc(before.zones, func(z *zonePlan) bool { return z.unsigned })
		return
	}
	signed := make(map[string]string, len(unsigned)) // signed domain by apex
	for _, d := range p.domains {
		if !d.unsigned && unsigned[d.zone] != nil {
			signed[d.zone] = d.written
		}
	}
	for _, apex := range slices.Sorted(maps.Keys(unsigned)) {
		d := unsigned[apex]
		z := p.byApex[apex]
		if z == nil { // the domain cannot be served
			continue
		}
		beside := signed[apex]
		if beside == "" && len(z.from.Records)+len(z.from.FromFile) > 0 {
			beside = "records of its own"
		}
		z.unsigned, z.mixed = beside == "", beside != ""
		was := before.byApex[apex]
		p.resigned = p.resigned || was != nil && was.unsigned != z.unsigned
		if z.mixed && (was == nil || !was.mixed) {
			p.reportMixedSigning(d, apex, beside)
		}
	}
	for _, z := range before.zones {
		p.resigned = p.resigned || z.unsigned && unsigned[z.Apex] == nil
	}
}

// reportMixedSigning adds a problem for an unsigned domain in a signed zone.
func (p *plan) reportMixedSigning(d *domain, apex, beside string) {
	why := fmt.Sprintf("dnssec_enabled is false, and an unsigned name cannot be inside a signed zone: %s is signed as a "+
		"whole or not at all, and it also has %s", apex, beside)
	if p.settings.RefuseMixed {
		p.wrong(fmt.Sprintf("domains[%d].dnssec_enabled", p.number(d)), d.written, "%s", why)
	} else {
		p.mixtures = append(p.mixtures, d.written+": "+why)
	}
}
