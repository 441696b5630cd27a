package publish

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
)

// rebuild is another view on its way. With many names it takes a second or more, in which changes go on being
// published in the view before.
type rebuild struct {
	begin    time.Time
	settings Settings
	done     chan error // of who asked; nil for nobody
	plan     *plan
	serials  serials
	view     *zone.View
	err      error

	domains []*domain           // as the settings have them; in this order, names, backends and answers also lie in memory
	again   map[string]struct{} // services that changed since the names of the view began to be decided
}

// decidedAtOnce is how many names are decided before changes that came meanwhile are published: a few milliseconds.
const decidedAtOnce = 256

// build makes the view, with the answers that names have in the one before. It changes nothing of the Publisher; no other
// build may be under way.
func (p *Publisher) build(s Settings, before *zone.View, done chan error) *rebuild {
	b := &rebuild{begin: p.now(), settings: s, done: done, plan: newPlan(s)}
	if len(b.plan.problems) > 0 {
		b.err = b.plan.problems
		return b
	}
	b.domains = b.plan.steer()
	if p.signing != nil {
		if b.err = p.signing.sign(b.plan); b.err != nil {
			return b
		}
	}
	b.serials = make(serials)
	contents := make([]zone.Contents, 0, len(b.plan.zones))
	for _, z := range b.plan.zones {
		b.serials[z.Apex] = p.serials.number(z, p.floor, b.begin)
		contents = append(contents, z.Contents)
	}
	if b.view, b.err = zone.New(contents, before); b.err != nil {
		b.err = fmt.Errorf("building the zones: %w", b.err)
	}
	return b
}

// force puts a view that was built into force. Between the names, between is called from time to time; it is nil at a start, where nobody
// waits for anything else. If ctx ends, the view before stays.
func (p *Publisher) force(ctx context.Context, b *rebuild, between func()) error {
	if b.err != nil {
		return b.err
	}
	p.generation++
	b.view.Place(b.settings.Places)
	b.again = make(map[string]struct{})
	p.rebuilding = b
	defer func() { p.rebuilding = nil }()
	positions := newPositions(p.positions, b.plan.earth, b.settings.Places)
	if err := p.decideAll(ctx, b, positions, between); err != nil {
		return err
	}
	// From here on nothing can fail.
	p.positions = positions
	p.measurements.follow(b.plan.domains)
	p.numbered(b.serials)
	for apex, v := range p.serials {
		if _, stays := b.serials[apex]; !stays {
			p.numbered(nil, v)
		}
	}
	p.plan, p.domains, p.serials, p.settings = b.plan, b.plan.domains, b.serials, b.settings
	p.plan.forgetContents()
	p.view.Store(b.view)
	if p.signing != nil {
		p.signing.all(b.plan)
	}
	p.published(b.begin)
	p.tellAll()
	p.metrics.zones.Set(float64(len(b.plan.zones)))
	p.metrics.domains.Set(float64(len(b.plan.domains)))
	return nil
}

// decideAll decides the names of a view while another is in force, one after the other, so that queries have the other
// cores. From time to time it calls between; it is nil where nobody waits. Names that change there are decided once more at
// the end.
func (p *Publisher) decideAll(ctx context.Context, b *rebuild, positions *positions, between func()) error {
	by := p.beside(positions)
	for part := range slices.Chunk(b.domains, decidedAtOnce) {
		for _, d := range part {
			d.outcome = by.decide(b.view, d)
		}
		if between == nil {
			continue
		}
		if between(); ctx.Err() != nil {
			return fmt.Errorf("putting the DNS settings into force: %w", context.Cause(ctx))
		}
		by.generation = p.generation // which is later if there was a change
	}
	for service := range b.again {
		if d, ok := b.plan.domains[service]; ok {
			d.outcome = by.decide(b.view, d)
		}
	}
	return nil
}

// changedMeanwhile notes services that the view on its way, if there is one, may have decided too early.
func (p *Publisher) changedMeanwhile(service string) {
	if p.rebuilding != nil {
		p.rebuilding.again[service] = struct{}{}
	}
}
