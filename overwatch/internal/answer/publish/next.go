package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
)

// next is a view that is being built. With many new or changed names this takes a second or more; meanwhile health
// changes are published in the current view.
type next struct {
	begin     time.Time
	plan      *plan
	positions *positions
	view      *zone.View
	err       error
	done      chan error // gets the outcome; nil: no caller waits

	again map[string]struct{} // services that changed since the view began to be built
}

// decidedAtOnce is the number of names per batch, between which health changes are published: a few milliseconds.
const decidedAtOnce = 256

// build builds the view of n, which will replace the current view. It stores an error in n.err. It does not change the
// Publisher. Builds must not run concurrently.
func (p *Publisher) build(n *next, s Settings) {
	n.begin = p.now()
	n.positions = newPositions(p.positions, newPlaces(s.Regions, s.Places), s.Places)
	n.plan = newPlan(s, p.plan, p.domains, n.positions != p.positions)
	if len(n.plan.problems) > 0 {
		n.err = n.plan.problems
		return
	}
	if p.signing != nil {
		if n.err = p.signing.sign(n.plan); n.err != nil {
			return
		}
	}
	contents := make([]*zone.Contents, len(n.plan.zones))
	for i, z := range n.plan.zones {
		if z.plan == n.plan {
			z.number(p.planned(z.Apex), p.floor, n.begin)
		}
		contents[i] = &z.Contents
	}
	if n.view, n.err = zone.New(contents, p.view.Load()); n.err != nil {
		n.err = fmt.Errorf("building the zones: %w", n.err)
	}
}

// planned returns a zone of the current plan; nil if missing.
func (p *Publisher) planned(apex string) *zonePlan {
	if p.plan == nil {
		return nil
	}
	return p.plan.byApex[apex]
}

// publishNext decides the names of a built view, and makes the view current. It calls between after each batch of
// decidedAtOnce names; nil disables the call. If ctx ends, the previous view remains.
func (p *Publisher) publishNext(ctx context.Context, n *next, between func()) error {
	if n.err != nil {
		return n.err
	}
	p.generation++
	n.view.SetRegionTable(n.plan.settings.Places)
	by := p.forNextView(n.positions)
	if err := p.decideAll(ctx, n, by, between); err != nil {
		return err
	}
	// The following steps cannot fail.
	starts := p.plan == nil
	p.numbered(n.plan)
	relaid := n.plan.relaid || n.plan.resigned
	p.positions, p.plan = n.positions, n.plan
	p.omitted.Store(n.plan.api.omitted)
	for _, why := range n.plan.mixtures {
		p.log.Warn().Msg(why + ": the zone is signed")
	}
	longest := n.plan.longestTTL()
	p.serveTTL(max(p.longest.Load(), longest))
	fresh := slices.Concat(n.view.NewSignatures(), by.writer.TakeNewSignatures())
	p.view.Store(n.view)
	n.view.ReleasePrevious()
	p.serveTTL(longest)
	if starts || len(n.plan.changed) > 0 {
		p.reportAll(n.plan)
	}
	p.replaceDomains(n.plan)
	if p.signing != nil {
		if relaid {
			p.signing.dropOthers(p.plan)
		}
		if starts {
			p.signing.requestAll()
		} else {
			p.signing.requestSome(fresh)
		}
	}
	p.published(n.begin)
	if starts {
		p.measurements.removeUnmeasured()
	}
	p.metrics.zones.Set(float64(len(p.plan.zones)))
	p.metrics.domains.Set(float64(len(p.domains)))
	return nil
}

// serveTTL sets the longest TTL of all answers, in seconds.
func (p *Publisher) serveTTL(seconds uint32) {
	p.longest.Store(seconds)
	if p.signing != nil {
		p.signing.zones.ServeTTL(p.LongestTTL())
	}
}

// decideAll decides the new and changed names of a view while another view is current. It uses one core, and leaves the
// others for queries. between is described at publishNext. decideAll repeats the decision of a name at the end if its
// backends have changed concurrently.
func (p *Publisher) decideAll(ctx context.Context, n *next, by *decider, between func()) error {
	all := n.plan.domains // names, backends and answers are in memory in the same order
	if len(n.plan.changed) < len(all) {
		all = slices.Collect(maps.Values(n.plan.changed))
	}
	for part := range slices.Chunk(all, decidedAtOnce) {
		for _, d := range part {
			d.outcome = by.decide(n.view, d)
		}
		if between == nil {
			continue
		}
		if between(); ctx.Err() != nil {
			return fmt.Errorf("putting the DNS settings into force: %w", context.Cause(ctx))
		}
		by.generation = p.generation // greater if between has published
	}
	for service := range n.again {
		if d := n.plan.changed[service]; d != nil {
			d.outcome = by.decide(n.view, d)
		} else if d := p.domains[service]; d != nil && d.plan == n.plan { // its zone may have other keys
			by.decide(n.view, d)
		}
	}
	return nil
}

// replaceDomains replaces the domains of the Publisher by the domains of a plan, which is current now.
func (p *Publisher) replaceDomains(next *plan) {
	for _, d := range next.gone {
		if p.domains[d.service] == d {
			delete(p.domains, d.service)
			if next.changed[d.service] == nil {
				p.suspendFailbacks(d)
			}
			p.measurements.removeService(d.service)
		}
	}
	for service, d := range next.changed {
		was := p.domains[service]
		p.domains[service] = d
		p.measurements.change(d)
		p.releaseFailbacks(d)
		if outcome := d.outcome; was != nil {
			d.outcome, d.lost = was.outcome, was.lost
			p.logOutcome(d, outcome)
		}
	}
	next.changed, next.gone, next.edits = nil, nil, nil
}

// changedMeanwhile records a service that changed during the build of another view, which may contain an older
// decision.
func (p *Publisher) changedMeanwhile(service string) {
	if p.building != nil {
		p.building.again[service] = struct{}{}
	}
}
