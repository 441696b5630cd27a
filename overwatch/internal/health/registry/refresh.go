package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// refresh derives the Backend of r from everything known about it at now. If it has changed, it is published at the end
// of the command. A backend that is known only by the claim of a lost agent is removed.
func (w *writer) refresh(r *record, now time.Time) {
	if r.removed {
		return
	}
	if w.abandoned(r, now) {
		w.remove(r)
		return
	}
	w.accuse(r, now)
	w.followWarnings(r, now)
	w.endDrains(r, now)
	in := w.inputs(r, now)
	evidence := in
	evidence.Override = check.StateUnknown
	w.remember(r, evidence, status.Effective(evidence))
	next := w.compose(r, in, now)
	w.setSide(r, w.sideOf(r, now))
	w.watch(r, now)
	if next != *r.pub || r.draft {
		w.replace(r, next, now)
		if r.pub.FlapReason != next.FlapReason {
			w.watch(r, now) // it flaps since this stop
		}
	}
	w.countInRegion(r)
}

// inputs returns the inputs of the truth table for r.
func (w *writer) inputs(r *record, now time.Time) status.Inputs {
	in := status.Inputs{LastKnown: r.remembered, CheckOff: r.unchecked()}
	if o := w.orderFor(api.OrderOverride, r.id, now); o != nil {
		in.Override = stateOf(o.Healthy)
	}
	if w.validated(r, now) {
		if in.Isolated = r.pub.Validation.SetAside; !in.Isolated {
			in.Check = r.pub.Validation.State
		}
	}
	if r.claim == nil {
		in.Unmonitored = !w.checks(r)
		return in
	}
	in.Stale, in.Unauthorized = w.stale(r.claim.agent, now), r.outsider()
	in.Held = w.holder(r, ConcernIll, now) != nil
	switch r.claim.said.claim {
	case wire.ClaimHealthy:
		in.Report = check.StateHealthy
	case wire.ClaimUnhealthy:
		in.Report = check.StateUnhealthy
	}
	return in
}

// unchecked reports whether this node's check of r is switched off, apart from all others.
func (r *record) unchecked() bool {
	_, _, spec := r.declaration()
	return spec.Value().Off
}

// checks reports whether this node checks r.
func (w *writer) checks(r *record) bool { return w.timing.ValidationEnabled && !r.unchecked() }

// validated reports whether this node has a verdict on r that is not too old to count.
func (w *writer) validated(r *record, now time.Time) bool {
	return r.pub.Validation.State != check.StateUnknown && w.checks(r) && now.Before(w.verdictEnds(r))
}

// verdictEnds returns when the verdict on r becomes too old to count: after three times the interval of its check, or
// the one by which the verdict was made where that was longer.
func (w *writer) verdictEnds(r *record) time.Time {
	v := &r.pub.Validation
	return v.At.Add(3 * max(w.checkInterval(r), v.interval))
}

// checkInterval returns the time between two of this node's checks of r: its own, or the node's where that is longer.
func (w *writer) checkInterval(r *record) time.Duration {
	interval := w.timing.ValidationInterval
	if r.source() != api.SourceAgent || r.claim != nil && r.claim.omitted == reduce.ByPolicy {
		_, _, spec := r.declaration()
		interval = max(interval, spec.Value().Interval)
	}
	return interval
}

// remember keeps the present conclusion for a time without evidence. A backend that serves because nothing checks it
// stays in the answers when its check is switched on, until the first check fails.
func (w *writer) remember(r *record, evidence status.Inputs, unforced status.Conclusion) {
	none := evidence.Report == check.StateUnknown && !evidence.Stale && evidence.Check == check.StateUnknown
	if none && !(evidence.CheckOff && evidence.Unmonitored) {
		return
	}
	r.outdated = none
	if said := stateOf(unforced.MayServe); said != r.remembered {
		r.remembered = said
		w.keep(r)
	}
}

// abandoned reports whether r is known only by the claim of an agent that is gone, and this node's own checks do not
// find it healthy.
func (w *writer) abandoned(r *record, now time.Time) bool {
	if r.source() != api.SourceAgent || r.claim == nil || !w.gone(r.claim.agent, now) {
		return false
	}
	return !w.validated(r, now) || r.pub.Validation.SetAside || r.pub.Validation.State != check.StateHealthy
}

// compose returns the Backend of r for readers. It keeps the times as they are.
func (w *writer) compose(r *record, in status.Inputs, now time.Time) Backend {
	was := r.pub
	b := Backend{
		ID: r.id, Source: r.source(), Validation: was.Validation,
		FlapReason: r.stops.FlapReason(now, w.timing.flapWindow()), LastHealthyAt: was.LastHealthyAt,
		CreatedAt: was.CreatedAt, UpdatedAt: was.UpdatedAt,
	}
	b.Weight, b.Region, b.check = r.declaration()
	b.Region = w.options.RegionName(b.Region)
	if in.CheckOff {
		b.Validation = Validation{}
	}
	if d := r.authority(); d != nil {
		b.DeclaredAgent, b.part = d.agent, d.part
	}
	w.applyOrders(&b, now)
	if r.claim != nil {
		b.AgentID, b.agent = r.claim.agent.id, r.claim.agent
		if b.Source == api.SourceAgent {
			b.omitted = r.claim.omitted
		}
		switch in.Report {
		case check.StateHealthy:
			b.Claim = w.saysHealthy
		case check.StateUnhealthy:
			b.Claim = w.saysUnhealthy
		}
	}
	load := w.loadOf(r, in, now)
	s := status.Serve(in, &load, now)
	b.Status, b.MayServe, b.Reason, b.Share, b.Held = s.Status, s.MayServe, s.Reason, s.Share, s.Held
	if s.Drain != nil {
		b.Draining, b.DrainEndsAt, b.DrainTo = true, s.Drain.End(), s.Drain.To
	}
	return b
}

// loadOf returns the ramps and holds of r.
func (w *writer) loadOf(r *record, in status.Inputs, now time.Time) status.Load {
	l := status.Load{WarningHeld: w.holder(r, ConcernWarned, now) != nil, Drains: w.drains(r, now)}
	if in.Held {
		l.HeldReason = w.holder(r, ConcernIll, now).heldReason()
	}
	if r.hasWarnings() {
		l.Warnings = r.claim.warnings
	}
	return l
}

// hasWarnings reports whether early warnings lower the share of r.
func (r *record) hasWarnings() bool {
	return r.claim != nil && r.claim.warnings != nil && !r.outsider()
}

// applyOrders shows the operator's orders in force.
func (w *writer) applyOrders(b *Backend, now time.Time) {
	for _, one := range []struct {
		kind api.OrderKind
		to   **Order
	}{{api.OrderOverride, &b.Override}, {api.OrderWeight, &b.WeightOrder}, {api.OrderDrain, &b.DrainOrder}} {
		if o := w.orderFor(one.kind, b.ID, now); o != nil {
			*one.to = &o.Order
		}
	}
}

// fit reports whether b may serve but for its drain.
func (b *Backend) fit() bool { return b.MayServe || b.Drained() }

// Drained reports whether b does not serve because of its drain alone.
func (b *Backend) Drained() bool {
	return b.Reason == status.ReasonDrained || b.Reason == status.ReasonDrainedAnyway
}

// replace publishes next as the Backend of r. It sets the times, and notes what must be told to others, logged and
// saved.
func (w *writer) replace(r *record, next Backend, now time.Time) {
	previous := r.pub
	if next.Held && !previous.Held {
		w.options.Held(r.id)
	}
	if next.fit() || previous.fit() {
		next.LastHealthyAt = now
	}
	if r.draft || !sameButValidation(*previous, next) {
		next.UpdatedAt = now
	}
	if r.draft {
		*r.pub = next
		r.draft = false
		w.mark(r.service, true)
		w.targetsChanged = true
		if !r.stored {
			w.keep(r)
		}
		return
	}
	if previous.MayServe && !next.MayServe && next.Override == nil && !next.Drained() {
		r.stops.Add(next.Reason, now)
		next.FlapReason = r.stops.FlapReason(now, w.timing.flapWindow())
	}
	r.pub = new(next) // and not &next, for which the draft, above, would make one in vain
	w.mark(r.service, !sameAnswers(*previous, next))
	w.targetsChanged = w.targetsChanged || previous.check != next.check
	if previous.Status != next.Status || previous.MayServe != next.MayServe {
		w.logChange(r, now)
	}
	if worthKeeping(previous, r.pub) {
		w.keep(r)
	}
}

// sameButValidation reports whether two states of a backend differ in nothing that UpdatedAt counts.
func sameButValidation(a, b Backend) bool {
	a.Validation, a.LastHealthyAt, a.UpdatedAt = b.Validation, b.LastHealthyAt, b.UpdatedAt
	return a == b
}

// sameAnswers reports whether two states of a backend lead to the same answers and explanations: they differ only in
// the evidence behind the conclusion and in times. Any other field counts, so that a new field cannot be forgotten.
func sameAnswers(a, b Backend) bool {
	a.Validation, a.Claim, a.AgentID, a.agent, a.DeclaredAgent = b.Validation, b.Claim, b.AgentID, b.agent, b.DeclaredAgent
	a.LastHealthyAt, a.CreatedAt, a.UpdatedAt = b.LastHealthyAt, b.CreatedAt, b.UpdatedAt
	a.check, a.Source = b.check, b.Source
	return a == b
}

// watch sets a deadline for the next moment at which time alone changes something about r: the earliest of those that
// wakeBy is called with, or after longestWatch, which sets the next one and changes nothing.
func (w *writer) watch(r *record, now time.Time) {
	latest := now.Add(longestWatch)
	wakeBy := func(t time.Time) {
		if t.After(latest) {
			t = latest
		}
		w.wake(r, &r.timer, t)
	}
	if w.validated(r, now) {
		wakeBy(w.verdictEnds(r))
	}
	for _, d := range w.drains(r, now) {
		if d == nil {
			continue
		}
		if next, moving := d.Next(now); moving {
			wakeBy(next)
		}
	}
	if r.stops.FlapReason(now, w.timing.flapWindow()) != "" {
		wakeBy(r.stops.FlapEnd(w.timing.flapWindow()))
	}
	if r.leftDrain != nil && !w.checks(r) {
		wakeBy(r.leftDrain.leftAt.Add(w.timing.RemoveAfter))
	}
	if !r.hasWarnings() {
		return
	}
	for kind := range r.claim.warnings {
		if next, moving := r.claim.warnings[kind].Next(now); moving {
			wakeBy(next)
		}
	}
}

// due implements timed.
func (r *record) due(w *writer, at deadlineAt, now time.Time) {
	if r.timer != at || r.removed {
		return
	}
	r.timer = 0
	w.refresh(r, now)
}
