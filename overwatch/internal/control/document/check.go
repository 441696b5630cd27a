package document

import (
	"maps"
	"reflect"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// checker checks the objects of a plan against each other, the file, and definitions created since the plan.
type checker struct {
	pl       *Planner
	p        *Plan
	d        *definitions.Draft
	regions  map[string]bool          // the regions after the plan, and whether they are enabled
	domains  map[string]*model.Domain // the domains of the API after the plan
	byName   map[string]bool          // domains with names as answers
	problems problems
}

// check checks the objects of a plan.
func (p *Plan) check(pl *Planner, d *definitions.Draft) error {
	if err := p.stale(d.Now()); err != nil {
		return err
	}
	c := &checker{pl: pl, p: p, d: d, regions: p.regionsAfter(d), domains: map[string]*model.Domain{}}
	for name, domain := range p.after(pl, d, findSection(model.KindDomain)) {
		c.domains[name] = domain.(*model.Domain)
	}
	c.byName = domainsAnsweringNames(d.File(), c.domains)
	for _, s := range sections() {
		for id, object := range p.put.of[s.name] {
			if c.problems.full() {
				break
			}
			s.check(c, id, object, p.held.of[s.name][id])
		}
	}
	if gone := p.gone.of[model.KindRegion]; len(gone) > 0 {
		users := c.regionUsers()
		for name := range gone {
			c.problems.check("region "+name, users[name])
		}
	}
	for _, s := range sections() {
		if s.put == nil || len(p.put.of[s.name]) == 0 {
			continue
		}
		if have := len(p.after(pl, d, s)); have > s.most {
			return fault.Fullf("there would be %d %s, and %d are the most", have, s.plural, s.most)
		}
	}
	return c.problems.err(fault.Invalid)
}

// after returns the objects of a section after the plan.
func (p *Plan) after(pl *Planner, d *definitions.Draft, s *section) map[string]any {
	all := s.held(pl, d.Now())
	maps.Copy(all, p.put.of[s.name])
	for id := range p.gone.of[s.name] {
		delete(all, id)
	}
	return all
}

// isDomain reports whether a name is a domain of the file, or of the API after the plan.
func (c *checker) isDomain(name string) bool {
	return c.domains[name] != nil || c.d.InFile(model.KindDomain, name)
}

// regionsAfter returns the names of the regions after a plan, including regions of the file, and whether the API has
// disabled them.
func (p *Plan) regionsAfter(d *definitions.Draft) map[string]bool {
	all := map[string]bool{}
	for i := range d.File().Regions {
		all[d.File().Regions[i].Name] = true
	}
	for name, r := range d.Now().Regions {
		all[name] = r.Enabled
	}
	for name, r := range typed[model.Region](p.put, model.KindRegion) {
		all[name] = r.Enabled
	}
	for name := range p.gone.of[model.KindRegion] {
		delete(all, name)
	}
	return all
}

// mayName checks that a region exists and is enabled. An object may name a disabled region if it named the region
// before, or if the document contains the region, as in an export.
func (c *checker) mayName(name string, before ...string) error {
	enabled, there := c.regions[name]
	switch {
	case !there:
		return fault.Invalidf("region is %.64q: it must be one of %s", name,
			objects.ShortList(slices.Sorted(maps.Keys(c.regions))))
	case !enabled && !slices.Contains(before, name) && c.p.put.of[model.KindRegion][name] == nil:
		return fault.Invalidf("region is %.64q, which is disabled: enable it first, or leave it out", name)
	}
	return nil
}

// domainsAnsweringNames returns the domains of a file and of the API that answer with host names.
func domainsAnsweringNames(file *config.Config, made map[string]*model.Domain) map[string]bool {
	all := map[string]bool{}
	for _, list := range [][]config.Domain{file.Domains, file.Disabled()} {
		for i := range list {
			if list[i].AnswersNames() {
				all[list[i].Name] = true
			}
		}
	}
	for name, d := range made {
		if d.AnswersNames() {
			all[name] = true
		}
	}
	return all
}

// regionUsers returns an error for each region that an object references after the plan. The error names such an
// object.
func (c *checker) regionUsers() map[string]error {
	users := map[string]error{}
	names := func(region, format string, object any) {
		if users[region] == nil {
			users[region] = fault.Invalidf(format, object)
		}
	}
	for _, s := range sections() {
		if s.regions == nil {
			continue
		}
		for id, object := range c.p.after(c.pl, c.d, s) {
			for _, region := range s.regions(object) {
				names(region, s.kind+" %s names it, and stays", id)
			}
		}
	}
	for domain := range c.d.File().AllDomains { // regions of overlays
		for _, region := range domain.Regions {
			names(region, "the overlay of domain %s names it: change it first", domain.Name)
		}
	}
	c.serversIn(names)
	return users
}

// stale rejects a plan if a definition of the plan has changed since the plan was made.
func (p *Plan) stale(now *definitions.Set) error {
	for _, s := range sections() {
		if s.get == nil {
			continue
		}
		for _, touched := range []*Objects{p.put, p.gone} {
			for id := range touched.of[s.name] {
				if !reflect.DeepEqual(p.held.of[s.name][id], s.get(now, id)) {
					return errStale
				}
			}
		}
	}
	return nil
}
