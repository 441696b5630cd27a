package publish

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/wire"
)

// takeDomains creates the domains of the settings. Domains with unchanged settings are shared with the previous plan.
func (p *plan) takeDomains(before *plan, known map[string]*domain, moved bool) {
	if before == nil {
		before = &plan{}
	}
	p.domains = make([]*domain, 0, len(p.settings.Domains)+len(p.settings.Defined))
	alike, ranked := p.rulesAlike(before), !p.places.ranked(&before.places)
	var was *domain
	last := before.domains
	for i, c := range p.settings.allDomains {
		was, last = find(last, c.Name, known)
		if was != nil && was.plan == p {
			continue // duplicate domain in the settings
		}
		d := was
		if was == nil || !alike || moved && was.rules.NeedsPosition() || ranked && was.placed ||
			!was.isUnchanged(c, p.regionsOf(c)) {
			if d = p.makeDomain(i, c); d == nil {
				continue
			}
			p.changed[d.service] = d
		}
		if was != nil {
			was.plan, d.zone, d.outside = p, was.zone, was.outside
			d.settings = c // the earlier, equal settings would keep a whole configuration in memory
			p.stay++
		}
		p.domains = append(p.domains, d)
	}
}

// rulesAlike reports whether the settings common to all domains are equal to another plan's.
func (p *plan) rulesAlike(other *plan) bool {
	a, b := &p.settings.DNS, &other.settings.DNS
	return len(other.domains) > 0 && p.places.same(&other.places) && a.SameTTLs(b) &&
		a.ReturnLastHealthy == b.ReturnLastHealthy
}

// find returns the domain of a name in the previous plan, and the domains after it. next contains the domains after the
// last result, and usually starts with the domain, because the order rarely changes.
func find(next []*domain, name string, known map[string]*domain) (*domain, []*domain) {
	for skipped := range min(len(next), 2) { // a removed domain is skipped
		if next[skipped].written == name {
			return next[skipped], next[skipped+1:]
		}
	}
	return known[wire.CanonicalService(name)], next
}

// isUnchanged reports whether new settings and a new order of regions leave the answers of d unchanged.
func (d *domain) isUnchanged(settings *config.Domain, regions []string) bool {
	return d.settings.Name == settings.Name && slices.Equal(d.rules.Regions, regions) && d.settings.SameAnswers(settings)
}

// makeDomain creates a domain. It returns nil for an invalid domain or a duplicate name.
func (p *plan) makeDomain(number int, c *config.Domain) *domain {
	name, service := fqdn(c.Name), wire.CanonicalService(c.Name)
	if p.changed[service] != nil || !p.validDomain(func() string { return fmt.Sprintf("domains[%d]", number) }, name, c) {
		return nil
	}
	rules := p.rules(c)
	if c.Failback.Waits() && !rules.Algorithm.ChoosesRegion() {
		p.caution("domains[%d].failback: has no effect on %s, since %s selects no region; use failover, geolocation or "+
			"proximity, or remove it", number, c.Name, rules.Algorithm)
	}
	return &domain{plan: p, written: c.Name, service: service, name: name, rules: rules, settings: c,
		answers: answersOf(c), unsigned: c.Unsigned(), listed: c.Regions, placed: rules.NeedsRegion(),
		https: c.HTTPS, types: typesOf(c), srv: srvNames(c)}
}

// answersOf returns the maximum number of records of an answer. A name has one alias (RFC 1034 section 3.6.2).
func answersOf(c *config.Domain) int {
	if c.AnswersNames() {
		return 1
	}
	return max(c.MaxAnswers, 1)
}

// rules returns the rules of a domain. It shares the rules of the previous domain if they are equal.
func (p *plan) rules(c *config.Domain) *policy.Rules {
	if p.lastRule != nil && p.lastFrom.SameAnswers(c) {
		return p.lastRule
	}
	p.lastFrom = c
	if made := p.rulesFrom(c, p.regionsOf(c)); !reflect.DeepEqual(p.lastRule, made) {
		p.lastRule = made
	}
	return p.lastRule
}

// regionsOf returns the order of a domain's regions: its own order or, for failover without one, the order of
// priorities.
func (p *plan) regionsOf(c *config.Domain) []string {
	if len(c.Regions) == 0 && config.Uses(c, func(a *policy.Algorithm) bool { return a == policy.Failover }) {
		return p.byPriority
	}
	return c.Regions
}

// byPriority returns the names of regions by ascending priority; nil if all priorities are equal.
func byPriority(regions []config.Region) []string {
	if !slices.ContainsFunc(regions, func(r config.Region) bool { return r.Priority != regions[0].Priority }) {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(regions), func(a, b config.Region) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Name, b.Name))
	})
	names := make([]string, len(sorted))
	for i := range sorted {
		names[i] = sorted[i].Name
	}
	return names
}

// layOut creates the zones, without records, and assigns each domain to a zone. A domain outside the configured zones
// creates its own zone, unless another such zone encloses it: its parent delegates it to this node.
func (p *plan) layOut(before *plan) {
	for i, z := range p.settings.DNS.Zones {
		p.addZone(fmt.Sprintf("dns.zones[%d]", i), z)
	}
	alike := before != nil && slices.EqualFunc(p.settings.DNS.Zones, before.settings.DNS.Zones,
		func(a, b config.Zone) bool { return a.Name == b.Name })
	var outside []int
	for i, d := range p.domains {
		if alike && d.zone != "" && !d.outside {
			continue
		}
		if z := p.enclosing(d.name); z != nil {
			p.assignZone(i, z.Apex, false)
		} else {
			outside = append(outside, i)
		}
	}
	p.layOutOutside(outside)
}

// layOutOutside creates the zones of domains outside the configured zones. It sorts shorter names first, and wildcards
// before others, so that the zones do not depend on the order of the settings: www.example.com is in the zone of
// example.com.
func (p *plan) layOutOutside(numbers []int) {
	type turn struct{ domain, labels, other int }
	order := make([]turn, len(numbers))
	for i, number := range numbers {
		name := p.domains[number].name
		order[i] = turn{domain: number, labels: dns.CountLabel(name)}
		if !strings.HasPrefix(name, "*.") {
			order[i].other = 1
		}
	}
	slices.SortStableFunc(order, func(a, b turn) int { return cmp.Or(a.labels-b.labels, a.other-b.other) })
	for _, o := range order {
		d := p.domains[o.domain]
		apex := ownApex(d.name)
		if z := p.enclosing(d.name); z != nil {
			apex = z.Apex
		} else if !p.addZone("", config.Zone{Name: apex}) {
			continue
		}
		p.assignZone(o.domain, apex, true)
	}
}

// assignZone assigns a domain to a zone.
func (p *plan) assignZone(number int, apex string, outside bool) {
	d := p.domains[number]
	if d.zone == apex && d.outside == outside {
		return
	}
	if p.changed[d.service] != d { // d is shared with the previous plan
		own := *d
		d = &own
		p.changed[d.service], p.domains[number] = d, d
	}
	d.zone, d.outside = apex, outside
}

// compare determines the added, removed and changed names of each zone.
func (p *plan) compare(before *plan, known map[string]*domain) {
	for _, d := range p.changed {
		if d.types != nil {
			p.edit(d.zone).setTypes(d.name, d.types)
		}
		p.editSRV(known[d.service], d)
		switch was := known[d.service]; {
		case was == nil:
			e := p.edit(d.zone)
			e.come = append(e.come, d.name)
		case was.zone != d.zone:
			come, gone := p.edit(d.zone), p.edit(was.zone)
			come.come, gone.gone = append(come.come, d.name), append(gone.gone, d.name)
		default:
			e := p.edit(d.zone)
			e.renewed = append(e.renewed, d.name)
		}
	}
	for _, d := range before.domains {
		if p.stay == len(before.domains) {
			break
		}
		if d.plan != p {
			e := p.edit(d.zone)
			e.gone = append(e.gone, d.name)
			p.editSRV(d, nil)
			p.gone = append(p.gone, d)
		}
	}
	p.relaid = len(p.zones) != len(before.zones)
	for _, z := range p.zones {
		p.relaid = p.relaid || before.byApex[z.Apex] == nil
	}
}

// edit returns the edit of a zone, and adds it if necessary.
func (p *plan) edit(apex string) *edit {
	e := p.edits[apex]
	if e == nil {
		e = new(edit)
		p.edits[apex] = e
	}
	return e
}

// planZone adds the records of a zone, or returns the zone of the previous plan.
func (p *plan) planZone(z *zonePlan, before *plan) *zonePlan {
	was, e := before.byApex[z.Apex], p.edits[z.Apex]
	if e == nil {
		e = new(edit)
	}
	kept := was != nil && p.keepsRecords(z, was, e, before)
	if kept && len(e.come)+len(e.gone)+len(e.renewed) == 0 {
		return was
	}
	e.sortNames()
	if z.kept = kept; was != nil {
		z.Balanced, z.version.names = was.Balanced, was.version.names
		z.Added, z.version.added = was.Added, was.version.added
	}
	z.Balanced, z.Unshared = edited(z.Balanced, e), e.renewed
	z.takeTypes(was, e)
	z.version.names.addAll(e.come, 1)
	z.version.names.addAll(e.gone, -1)
	if kept {
		soa := *was.SOA
		z.SOA, z.static, z.types, z.nameservers, z.elsewhere = &soa, was.static, was.types, was.nameservers, was.elsewhere
		z.aliases = was.aliases
	} else {
		z.types = make(map[string][]uint16)
		p.authority(z, z.from)
		p.records(z)
		z.elsewhere = slices.ContainsFunc(z.nameservers, func(name string) bool { return p.enclosing(name) != z })
	}
	z.Records = z.static
	return z
}

// keepsRecords reports whether the records of a zone equal its records in the previous plan.
func (p *plan) keepsRecords(z, was *zonePlan, e *edit, before *plan) bool {
	a, b := &p.settings, &before.settings
	if z.key != was.key || !sameZone(&z.from, &was.from) || !a.DNS.SameTTLs(&b.DNS) || a.NodeID != b.NodeID ||
		!slices.Equal(a.Addresses, b.Addresses) ||
		p.relaid && z.key != "" {
		return false
	}
	for _, names := range [][]string{e.come, e.gone, e.renewed} { // a name may exclude records, or no longer exclude them
		if slices.ContainsFunc(names, func(name string) bool {
			return was.types[name] != nil || slices.Contains(was.nameservers, name)
		}) {
			return false
		}
	}
	return true
}

// equal reports whether both pointers are nil or have the same number.
func equal(a, b *int) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func sameZone(a, b *config.Zone) bool {
	return a.Name == b.Name && a.Admin == b.Admin && equal(a.ApexTTL, b.ApexTTL) &&
		equal(a.NegativeTTL, b.NegativeTTL) && slices.Equal(a.Nameservers, b.Nameservers) &&
		slices.Equal(a.Records, b.Records) && slices.EqualFunc(a.FromFile, b.FromFile,
		func(a, b zonefile.Record) bool { return a.Text == b.Text })
}

// edited returns a list of names after an edit. All lists are in ascending order.
func edited(names []string, e *edit) []string {
	if len(e.come)+len(e.gone) == 0 {
		return names
	}
	out, come, gone := make([]string, 0, len(names)+len(e.come)), e.come, e.gone
	for _, name := range names {
		for len(come) > 0 && come[0] < name {
			out, come = append(out, come[0]), come[1:]
		}
		if len(gone) > 0 && gone[0] == name {
			gone = gone[1:]
		} else {
			out = append(out, name)
		}
	}
	return append(out, come...)
}
