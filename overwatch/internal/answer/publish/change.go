package publish

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/wire"
)

// ErrWhole says that domains cannot be changed one by one: which zones there are would follow from all of them. Reconfigure
// does it.
var ErrWhole = errors.New("a change of domains that concerns other names too")

// Change is domains that come, change and go while all other settings stay. It costs what it changes, however many names there
// are: only their zones' serials, chains of denial and signatures are made anew. What comes of it is what Reconfigure would make.
type Change struct {
	publisher *Publisher
	domains   []config.Domain // all of them afterwards
	put       []config.Domain
	deleted   []string

	plan  *plan // that the rest follows from
	step  func(*Publisher) error
	edits map[*zonePlan]*zone.Edit
	gone  []*zonePlan
	made  []*zonePlan
}

// Prepare finds out whether domains can be changed: put are those that are new or as they will be, deleted the names of those that
// go, domains all of them as Settings has them afterwards. Nothing is changed yet. Where the domains cannot be served the error is
// settings.Problems, and ErrWhole where they cannot be changed this way. It needs Run.
func (p *Publisher) Prepare(ctx context.Context, domains, put []config.Domain, deleted []string) (*Change, error) {
	c := &Change{publisher: p, domains: domains, put: put, deleted: deleted}
	return c, c.prepare(ctx)
}

func (c *Change) prepare(ctx context.Context) error {
	c.step = c.draw
	return c.publisher.ask(ctx, request{change: c, done: make(chan error, 1)})
}

// Apply puts the change into force and returns when answers follow it. On an error the settings before stay. It needs Run.
func (c *Change) Apply(ctx context.Context) error {
	for {
		if signing := c.publisher.signing; signing != nil {
			for _, z := range c.made { // here, since a key is written to the disk
				if err := signing.signZone(z, c.plan.settings.Denial); err != nil {
					return err
				}
			}
		}
		c.step = c.force
		err := c.publisher.ask(ctx, request{change: c, done: make(chan error, 1)})
		if !errors.Is(err, errRedrawn) {
			return err
		}
		if err := c.prepare(ctx); err != nil {
			return err
		}
	}
}

// errRedrawn says that keys have changed since the change was prepared.
var errRedrawn = errors.New("the zones were built anew meanwhile")

func (c *Change) next(p *Publisher) error { return c.step(p) }

// draw finds out what becomes of which zone. It changes nothing of the Publisher.
func (c *Change) draw(p *Publisher) error {
	c.plan, c.edits, c.gone, c.made = p.plan, make(map[*zonePlan]*zone.Edit), nil, nil
	// What is wrong is noted in a plan of its own.
	trial := &plan{settings: p.plan.settings, byApex: make(map[string]*zonePlan), domains: make(map[string]*domain), earth: p.plan.earth}
	going := make(map[string]bool, len(c.deleted))
	for _, name := range c.deleted {
		d, there := p.domains[wire.CanonicalService(name)]
		if !there || going[d.name] || !c.remove(p.plan, d.name) {
			return ErrWhole
		}
		going[d.name] = true
	}
	for _, domain := range c.put {
		name := fqdn(domain.Name)
		if !trial.sound(func() string { return "" }, name, &domain) {
			continue
		}
		if p.positions.spots == nil && p.plan.rules(&domain).NeedsPosition() {
			return ErrWhole // clients have not been told apart by their positions so far
		}
		if d, there := p.domains[wire.CanonicalService(domain.Name)]; there {
			if going[d.name] {
				return ErrWhole
			}
			continue // its name is there already
		}
		if !c.add(trial, name) {
			return ErrWhole
		}
	}
	for _, z := range c.made {
		trial.authority(z, config.Zone{})
		trial.checkNameservers(z)
	}
	if len(trial.problems) > 0 {
		return trial.problems
	}
	return nil
}

// edit is what becomes of a zone that stays.
func (c *Change) edit(z *zonePlan) *zone.Edit {
	if c.edits[z] == nil {
		c.edits[z] = &zone.Edit{Apex: z.Apex}
	}
	return c.edits[z]
}

// remove takes a name out of its zone. It says whether no other name is concerned.
func (c *Change) remove(plan *plan, name string) bool {
	z := plan.enclosing(name)
	if z == nil || plan.servers[name] > 0 {
		return false
	}
	if z.key != "" || ownApex(name) != z.Apex {
		e := c.edit(z)
		e.Plain = append(e.Plain, name)
		return true
	}
	if len(z.steered) > 1 || plan.above(z.Apex) || plan.servesOthers(z) {
		return false
	}
	c.gone = append(c.gone, z)
	return true
}

// add puts a name into its zone, or makes one for it. It says whether no other name is concerned.
func (c *Change) add(trial *plan, name string) bool {
	if c.plan.servers[name] > 0 || trial.enclosing(name) != nil {
		return false
	}
	if z := c.plan.enclosing(name); z != nil {
		if slices.Contains(c.gone, z) || slices.ContainsFunc(z.types[name], func(rtype uint16) bool {
			return rtype == dns.TypeA || rtype == dns.TypeAAAA || rtype == dns.TypeCNAME
		}) {
			return false
		}
		e := c.edit(z)
		e.Steered = append(e.Steered, name)
		return true
	}
	apex := ownApex(name)
	if c.plan.above(apex) || trial.above(apex) || c.plan.serversIn(apex) || !trial.addZone("", apex, 1) {
		return false
	}
	z := trial.byApex[apex]
	z.Steered, z.steered[name] = []string{name}, true
	c.made = append(c.made, z)
	return true
}

// above says whether there is a zone below a name.
func (p *plan) above(name string) bool {
	for apex := range p.byApex {
		if len(apex) > len(name) && dns.IsSubDomain(name, apex) {
			return true
		}
	}
	return false
}

// serversIn says whether a zone has a nameserver in the zone that an apex would make.
func (p *plan) serversIn(apex string) bool {
	for name := range p.servers {
		if strings.HasSuffix(name, apex) && dns.IsSubDomain(apex, name) {
			return true
		}
	}
	return false
}

// servesOthers says whether other zones have a nameserver in this one.
func (p *plan) servesOthers(z *zonePlan) bool {
	for name := range p.servers {
		if p.enclosing(name) == z && (p.servers[name] > 1 || !slices.Contains(z.nameservers, name)) {
			return true
		}
	}
	return false
}

// force puts the change into force.
func (c *Change) force(p *Publisher) error {
	if c.plan != p.plan {
		return errRedrawn
	}
	begin := p.now()
	versions := make(serials, len(c.edits)+len(c.made))
	d := zone.Delta{}
	for _, z := range c.gone {
		d.Gone = append(d.Gone, z.Apex)
	}
	for _, z := range c.made {
		versions[z.Apex] = p.serials.number(z, p.floor, begin)
		d.New = append(d.New, z.Contents)
	}
	soas := make(map[*zonePlan]*dns.SOA, len(c.edits))
	for z, e := range c.edits {
		v := p.serials[z.Apex]
		for _, name := range e.Plain {
			v.names.add(name, -1)
		}
		for _, name := range e.Steered {
			v.names.add(name, 1)
		}
		v = p.serials.follow(z.Apex, v, p.floor, begin)
		versions[z.Apex] = v
		soa := *z.SOA
		soa.Serial = v.serial
		soas[z], e.SOA = &soa, &soa
		d.Edited = append(d.Edited, *e)
	}
	view, fresh := p.view.Load(), []*zone.Signature(nil)
	named := len(d.Gone)+len(d.New)+len(d.Edited) > 0
	if named {
		var err error
		if view, fresh, err = view.With(d); err != nil {
			return err
		}
	}
	// From here on nothing can fail.
	p.generation++
	maps.Copy(p.serials, versions)
	p.numbered(versions)
	c.replan(p, soas)
	c.steer(p, view)
	p.view.Store(view)
	if p.signing != nil {
		if len(c.gone) > 0 {
			p.signing.only(p.plan)
		}
		p.signing.some(fresh)
	}
	p.prepareFresh()
	p.published(begin)
	p.metrics.zones.Set(float64(len(p.plan.zones)))
	p.metrics.domains.Set(float64(len(p.domains)))
	return nil
}

// replan makes the plan in force that of the settings afterwards.
func (c *Change) replan(p *Publisher, soas map[*zonePlan]*dns.SOA) {
	plan := p.plan
	for z, e := range c.edits {
		z.SOA = soas[z]
		for _, name := range e.Plain {
			delete(z.steered, name)
		}
		for _, name := range e.Steered {
			z.steered[name] = true
		}
	}
	for _, z := range c.gone {
		plan.countServers(z, -1)
		delete(plan.byApex, z.Apex)
		p.numbered(nil, p.serials[z.Apex])
		delete(p.serials, z.Apex)
	}
	if len(c.gone) > 0 {
		plan.zones = slices.DeleteFunc(plan.zones, func(z *zonePlan) bool { return plan.byApex[z.Apex] != z })
	}
	for _, z := range c.made {
		plan.countServers(z, 1)
		plan.byApex[z.Apex] = z
		plan.zones = append(plan.zones, z)
	}
	for _, name := range c.deleted {
		service := wire.CanonicalService(name)
		delete(p.domains, service)
		p.measurements.forget(service)
	}
	plan.forgetContents()
	p.settings.Domains, plan.settings.Domains = c.domains, c.domains
}

// steer decides the domains that are new or changed.
func (c *Change) steer(p *Publisher, view *zone.View) {
	for _, domain := range c.put {
		d := p.plan.domain(&domain)
		before, known := p.domains[d.service]
		p.domains[d.service] = d
		p.measurements.change(d)
		outcome := p.decide(view, d)
		if !known {
			d.outcome, d.lost = outcome, outcome != policy.Success
			continue
		}
		d.outcome, d.lost = before.outcome, before.lost
		p.tell(d, outcome)
	}
}

// forgetContents lets go of what is in the view and not needed for a Change.
func (p *plan) forgetContents() {
	for _, z := range p.zones {
		z.Records, z.Steered = nil, nil
	}
}
