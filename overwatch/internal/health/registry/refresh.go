package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// refreshBackend derives the Backend of r from its sources, checks and admin states. A change is published at the end
// of the command. It removes the backend if only a lost agent reports it.
func (w *writer) refreshBackend(r *record, now time.Time) {
	if r.isRemoved {
		return
	}
	w.updateDispute(r, now)
	if w.isAbandoned(r, now) {
		w.removeRecord(r)
		return
	}
	w.updateUnconfirmed(r, now)
	w.updateWarnings(r, now)
	w.endExpiredDrains(r, now)
	in := w.statusInputs(r, now)
	evidence := in
	evidence.Override = check.StateUnknown
	w.updateLastKnown(r, evidence, status.Conclude(evidence))
	w.updateRecovery(r, in, now)
	next := w.composeBackend(r, in, now)
	w.setEvidence(r, w.evidenceOf(r, now))
	w.scheduleRefresh(r, now)
	if next != *r.published || r.isNew {
		w.replaceBackend(r, next, now)
		if r.published.FlapReason != next.FlapReason {
			w.scheduleRefresh(r, now) // for the end of flapping
		}
	}
	w.updateContribution(r)
}

// statusInputs returns the inputs of the truth table for r.
func (w *writer) statusInputs(r *record, now time.Time) status.Inputs {
	in := status.Inputs{LastKnown: r.lastKnown, CheckOff: r.isCheckOff()}
	if o := w.adminStateFor(api.OrderOverride, r.id, now); o != nil {
		in.Override = stateOf(o.Healthy)
	}
	in.Check, in.Isolated = w.ownCheckState(r, now)
	if in.Disputed = r.dispute.IsOpen(); in.Disputed {
		in.Check = check.StateUnknown
	}
	if r.report == nil {
		in.Unmonitored = !w.isChecked(r)
		return in
	}
	in.Stale, in.Unauthorized = w.isStale(r.report.agent, now), r.hasUnauthorizedReporter()
	in.Held = w.holdOf(r, status.ReportUnhealthy, now) != nil
	switch r.report.statement.state {
	case wire.ClaimHealthy:
		in.Report = check.StateHealthy
	case wire.ClaimUnhealthy:
		in.Report = check.StateUnhealthy
	}
	return in
}

// hasOnlyFailedSince reports whether all own checks since t have failed, and at least one has failed. There may be
// fewer failures than failure_threshold: the agent is silent, so there is no evidence that the backend still works.
func (v *OwnCheck) hasOnlyFailedSince(t time.Time) bool {
	return v.Failures > 0 && v.At.After(t) && !v.succeededAt.After(t)
}

// isCheckOff reports whether the declaration disables this node's check of r.
func (r *record) isCheckOff() bool {
	_, _, spec := r.effectiveSettings()
	return spec.Value().Off
}

// isChecked reports whether this node checks r.
func (w *writer) isChecked(r *record) bool { return w.timing.ValidationEnabled && !r.isCheckOff() }

// hasCurrentCheck reports whether r has a result of an own check that has not expired.
func (w *writer) hasCurrentCheck(r *record, now time.Time) bool {
	return r.published.OwnCheck.State != check.StateUnknown && w.isChecked(r) && now.Before(w.checkExpiry(r))
}

// checkExpiry returns the time at which the result of the own check of r expires: three intervals after the check. The
// interval is the longer of the current interval and the interval at the time of the check.
func (w *writer) checkExpiry(r *record) time.Time {
	v := &r.published.OwnCheck
	return v.At.Add(3 * max(w.checkInterval(r), v.interval))
}

// checkInterval returns the time between two own checks of r: the longer of the node's interval and the interval of the
// check.
func (w *writer) checkInterval(r *record) time.Duration {
	interval := w.timing.ValidationInterval
	if r.source() != api.SourceAgent || r.report != nil && r.report.omitted == reduce.ByPolicy {
		_, _, spec := r.effectiveSettings()
		interval = max(interval, spec.Value().Interval)
	}
	return interval
}

// updateLastKnown stores the current conclusion as last known if there is evidence. The last known state of an
// unmonitored backend is healthy, so that it serves until the first failed check after its check is enabled.
func (w *writer) updateLastKnown(r *record, evidence status.Inputs, unforced status.Conclusion) {
	none := evidence.Report == check.StateUnknown && !evidence.Stale && evidence.Check == check.StateUnknown &&
		!evidence.Disputed
	if none && !(evidence.CheckOff && evidence.Unmonitored) {
		return
	}
	r.isLastKnownOld = none
	if state := stateOf(unforced.MayServe); state != r.lastKnown {
		r.lastKnown = state
		w.markUnsaved(r)
	}
}

// isAbandoned reports whether only a lost agent reports r, and no own check finds it healthy.
func (w *writer) isAbandoned(r *record, now time.Time) bool {
	if r.source() != api.SourceAgent || r.report == nil || !w.isLost(r.report.agent, now) || r.dispute.IsOpen() {
		return false
	}
	return !w.hasCurrentCheck(r, now) || r.published.OwnCheck.IsIgnored || r.published.OwnCheck.State != check.StateHealthy
}

// composeBackend returns the new Backend of r. It copies the times of the previous Backend.
func (w *writer) composeBackend(r *record, in status.Inputs, now time.Time) Backend {
	was := r.published
	b := Backend{
		ID: r.id, Source: r.source(), OwnCheck: was.OwnCheck,
		FlapReason: r.stops.FlapReason(now, w.timing.flapWindow()), LastHealthyAt: was.LastHealthyAt,
		CreatedAt: was.CreatedAt, UpdatedAt: was.UpdatedAt, Dispute: r.publishedDispute(),
		Transitions: was.Transitions,
	}
	b.Weight, b.Region, b.check = r.effectiveSettings()
	b.Region = w.options.RegionName(b.Region)
	if in.CheckOff {
		b.OwnCheck = OwnCheck{}
	}
	if d := r.effectiveDeclaration(); d != nil {
		b.DeclaredAgent, b.host = d.agent, d.host
	}
	w.showAdminStates(&b, now)
	if r.report != nil {
		b.AgentID, b.agent = r.report.agent.id, r.report.agent
		if b.Source == api.SourceAgent {
			b.omitted = r.report.omitted
		}
		switch in.Report {
		case check.StateHealthy:
			b.Reported = w.reportedHealthy
		case check.StateUnhealthy:
			b.Reported = w.reportedUnhealthy
		}
	}
	load := w.shareInputs(r, in, now)
	s := status.ConcludeShare(in, &load, now)
	b.Status, b.MayServe, b.Reason, b.Share, b.Held = s.Status, s.MayServe, s.Reason, s.Share, s.Held
	if s.Drain != nil {
		b.Draining, b.DrainEndsAt, b.DrainTo = true, s.Drain.End(), s.Drain.To
	}
	return b
}

// shareInputs returns the ramps and holds of r.
func (w *writer) shareInputs(r *record, in status.Inputs, now time.Time) status.ShareInputs {
	l := status.ShareInputs{DampedUntil: r.damped.Until, Recovery: &r.recovery,
		WarningHeld: w.holdOf(r, status.ReportWarning, now) != nil, Drains: w.activeDrains(r, now)}
	if in.Held {
		l.HeldReason = w.holdOf(r, status.ReportUnhealthy, now).heldReason()
	}
	if r.hasWarnings() {
		l.Warnings = r.report.warnings
	}
	return l
}

// updateRecovery starts the recovery ramp of r if r was down and now serves, and ends the ramp if r is down. The first
// result of a new backend, an override and the end of a drain start no ramp.
func (w *writer) updateRecovery(r *record, in status.Inputs, now time.Time) {
	was := r.published
	switch serves := status.Conclude(in).MayServe; {
	case !serves || in.Override != check.StateUnknown:
		r.recovery = status.Ramp{}
	case r.isNew || was.isServable() || was.Override != nil || was.Reason == status.ReasonUnknown:
	default:
		r.recovery = status.Recovery(now, w.options.RecoveryRamp(r.id.Service))
	}
}

// hasWarnings reports whether early warnings lower the share of r.
func (r *record) hasWarnings() bool {
	return r.report != nil && r.report.warnings != nil && !r.hasUnauthorizedReporter()
}

// showAdminStates sets the active admin states of b.
func (w *writer) showAdminStates(b *Backend, now time.Time) {
	for _, one := range []struct {
		kind api.OrderKind
		to   **AdminState
	}{{api.OrderOverride, &b.Override}, {api.OrderWeight, &b.AdminWeight}, {api.OrderDrain, &b.AdminDrain}} {
		if o := w.adminStateFor(one.kind, b.ID, now); o != nil {
			*one.to = &o.AdminState
		}
	}
}

// isServable reports whether b serves, or would serve without its drain.
func (b *Backend) isServable() bool { return b.MayServe || b.IsDrained() }

// IsDrained reports whether b would serve without its drain.
func (b *Backend) IsDrained() bool {
	return b.Reason == status.ReasonDrained || b.Reason == status.ReasonDrainedAnyway
}

// replaceBackend replaces the Backend of r. It sets the times, adds to the log, and queues publication and storage.
func (w *writer) replaceBackend(r *record, next Backend, now time.Time) {
	previous := r.published
	if next.Held && !previous.Held {
		w.options.BackendHeld(r.id)
	}
	if next.isServable() || previous.isServable() {
		next.LastHealthyAt = now
	}
	if r.isNew || !equalExceptCheck(*previous, next) {
		next.UpdatedAt = now
	}
	if r.isNew {
		*r.published = next
		r.isNew = false
		w.markDirty(r.service, true)
		w.targetsChanged = true
		if !r.isStored {
			w.markUnsaved(r)
		}
		return
	}
	if previous.Reported != next.Reported {
		w.noteContradiction(r, next.Reported, now)
	}
	if next.Reported == w.reportedUnhealthy && previous.Reported != next.Reported && previous.isServable() &&
		!r.hasUnauthorizedReporter() && r.report.agent.failures.Take(now) {
		w.options.FailureSeen(r.id)
	}
	if previous.MayServe && !next.MayServe && next.Override == nil && !next.IsDrained() {
		r.stops.AddStop(next.Reason, now)
		next.FlapReason = r.stops.FlapReason(now, w.timing.flapWindow())
		if next.FlapReason != "" {
			r.damped = r.damped.After(w.options.Damping(r.id.Service), now, w.timing.flapWindow())
		}
	}
	isTransition := previous.Status != next.Status || previous.MayServe != next.MayServe
	if isTransition {
		next.Transitions++
	}
	r.published = new(next) // &next would allocate even for a new record, above
	w.markDirty(r.service, !haveSameAnswers(*previous, next))
	w.targetsChanged = w.targetsChanged || previous.check != next.check
	if isTransition {
		w.logChange(r, now)
	}
	if mustSave(previous, r.published) {
		w.markUnsaved(r)
	}
}

// equalExceptCheck compares the fields that set UpdatedAt when they change.
func equalExceptCheck(a, b Backend) bool {
	if a.Dispute.EqualExceptVotes(b.Dispute) {
		a.Dispute = b.Dispute
	}
	a.OwnCheck, a.LastHealthyAt, a.UpdatedAt = b.OwnCheck, b.LastHealthyAt, b.UpdatedAt
	return a == b
}

// haveSameAnswers reports whether two Backends lead to the same answers and explanations. It ignores only evidence and
// times. Other fields, including future fields, are compared.
func haveSameAnswers(a, b Backend) bool {
	a.OwnCheck, a.Reported, a.AgentID, a.agent, a.DeclaredAgent = b.OwnCheck, b.Reported, b.AgentID, b.agent,
		b.DeclaredAgent
	a.LastHealthyAt, a.CreatedAt, a.UpdatedAt = b.LastHealthyAt, b.CreatedAt, b.UpdatedAt
	a.check, a.Source = b.check, b.Source
	return a == b
}

// scheduleRefresh sets a deadline for the next time-dependent change of r: the earliest of the times passed to wakeBy,
// at most maxRefreshDelay from now.
func (w *writer) scheduleRefresh(r *record, now time.Time) {
	latest := now.Add(maxRefreshDelay)
	wakeBy := func(t time.Time) {
		if t.After(latest) {
			t = latest
		}
		w.setDeadline(r, &r.timer, t)
	}
	if w.hasCurrentCheck(r, now) {
		wakeBy(w.checkExpiry(r))
	}
	for _, d := range w.activeDrains(r, now) {
		if d == nil {
			continue
		}
		if next, moving := d.NextStep(now); moving {
			wakeBy(next)
		}
	}
	if r.dispute.IsOpen() {
		wakeBy(r.dispute.Since.Add(w.timing.Agreement.Within))
	}
	if r.damped.Until.After(now) {
		wakeBy(r.damped.Until)
	}
	if next, moving := r.recovery.NextStep(now); moving {
		wakeBy(next)
	}
	if r.stops.FlapReason(now, w.timing.flapWindow()) != "" {
		wakeBy(r.stops.FlapEnd(w.timing.flapWindow()))
	}
	if r.leftDrain != nil && !w.isChecked(r) {
		wakeBy(r.leftDrain.leftAt.Add(w.timing.RemoveAfter))
	}
	if !r.hasWarnings() {
		return
	}
	for kind := range r.report.warnings {
		if next, moving := r.report.warnings[kind].NextStep(now); moving {
			wakeBy(next)
		}
	}
}

// handleDeadline implements deadlineHandler: it refreshes r.
func (r *record) handleDeadline(w *writer, at deadlineAt, now time.Time) {
	if r.timer != at || r.isRemoved {
		return
	}
	r.timer = 0
	w.refreshBackend(r, now)
}
