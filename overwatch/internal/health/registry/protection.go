package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/status"
)

// holdsOf returns the holds of s. It creates inactive holds if s has none.
func (w *writer) holdsOf(s *service) *[status.ReportKinds]hold {
	if s.holds == nil {
		s.holds = new([status.ReportKinds]hold)
		for kind := range s.holds {
			s.holds[kind].subject, s.holds[kind].kind = s, status.ReportKind(kind)
		}
	}
	return s.holds
}

// updateServiceHolds starts or ends the holds of s.
func (w *writer) updateServiceHolds(s *service, now time.Time) {
	if s.holds == nil {
		return
	}
	settings := w.options.Protection(s.name)
	for kind := range s.holds {
		w.updateHold(&s.holds[kind], settings, now)
	}
}

// updateHold starts or ends a hold according to the rules of status.Hold.
func (w *writer) updateHold(h *hold, settings status.Protection, now time.Time) {
	if h.IsActive() {
		w.updateActiveHold(h, settings, now)
	} else if held := w.recordsToHold(h, settings, now); len(held) > 0 {
		w.beginHold(h, settings, held, now)
	}
}

// recordsToHold returns the records that h would cover from now on, or nil if h stays inactive. It omits records of
// other holds. A hold that preserves a region replaces the holds of agents.
func (w *writer) recordsToHold(h *hold, settings status.Protection, now time.Time) (held []*record) {
	var stopped []*record
	for _, r := range h.subject.reportedRecords() {
		report := r.unconfirmedReport(h.kind)
		if !h.CanBeginWith(report, settings, now) || !r.published.wouldServeWithout(h.kind) || w.isHeldByOther(r, h, now) {
			continue
		}
		stopped = append(stopped, r)
		if w.isRefuted(r, now) {
			held = append(held, r)
		}
	}
	if !h.MustBegin(settings, len(stopped), h.subject.servingWithout(stopped)) {
		return nil
	}
	return held
}

// beginHold starts h. Reports that are older than the window stay accepted, unless h preserves a region.
func (w *writer) beginHold(h *hold, settings status.Protection, held []*record, now time.Time) {
	for _, r := range h.subject.reportedRecords() {
		report := r.unconfirmedReport(h.kind)
		if report != nil && report.IsOld(settings, now) && w.holdOf(r, h.kind, now) == nil {
			report.Accepted = true
		}
	}
	h.Begin(now)
	for _, r := range h.subject.reportedRecords() {
		w.refreshBackend(r, now)
	}
	w.setDeadline(h, &h.timer, now.Add(settings.HoldTime))
	ids, state := idsOf(held), h.state(settings)
	w.options.Logger.Warn().Str("subject", state.Subject()).Int("held", len(ids)).Stringer("for", settings.HoldTime).
		Msg("mass-failure protection: hold began, agents report many backends unhealthy, but own checks of them " +
			"succeed; check the agents")
	w.publishHolds()
	w.options.HoldChanged(HoldChange{HoldState: state, Began: true, Backends: ids})
}

// updateActiveHold ends h, or sets the deadline for its next update.
func (w *writer) updateActiveHold(h *hold, settings status.Protection, now time.Time) {
	held := w.recordsHeldBy(h, now)
	endReason, next := h.Update(settings, len(held), now)
	switch {
	case endReason != "":
		w.endHold(h, held, endReason, now)
	case !next.IsZero():
		w.setDeadline(h, &h.timer, next)
	}
}

// recordsHeldBy returns the records with a report that h holds.
func (w *writer) recordsHeldBy(h *hold, now time.Time) (held []*record) {
	for _, r := range h.subject.reportedRecords() {
		if w.holdOf(r, h.kind, now) == h {
			held = append(held, r)
		}
	}
	return held
}

// endHold ends h and accepts its present reports until the agents withdraw them. reason is "" for an operator's
// release.
func (w *writer) endHold(h *hold, held []*record, reason string, now time.Time) {
	state := h.state(w.options.Protection(""))
	if s, ok := h.subject.(*service); ok {
		state = h.state(w.options.Protection(s.name))
	}
	h.End()
	for _, r := range h.subject.reportedRecords() {
		if report := r.unconfirmedReport(h.kind); report != nil {
			report.Accepted = true
			report.Final = report.Final || reason == ""
		}
		r.wasHeld = false
		w.refreshBackend(r, now)
	}
	w.options.Logger.Warn().Str("subject", state.Subject()).Int("held", len(held)).Str("reason", reason).
		Msg("mass-failure protection: hold ended")
	w.publishHolds()
	w.options.HoldChanged(HoldChange{HoldState: state, Backends: idsOf(held), EndReason: reason})
}

// holdOf returns the hold that covers the unconfirmed report about r, or nil. The hold of the service has
// precedence over the region, and the region over the agent. The holds of regions and agents cover no early warnings.
func (w *writer) holdOf(r *record, kind status.ReportKind, now time.Time) *hold {
	report := r.unconfirmedReport(kind)
	if report == nil || report.Final || !w.isRefuted(r, now) {
		return nil
	}
	if s := r.service; s.holds != nil && s.holds[kind].Covers(report) {
		return &s.holds[kind]
	}
	if kind != status.ReportUnhealthy || !w.options.Protection(r.service.name).Enabled {
		return nil
	}
	if g := w.regions[r.region]; g != nil && g.hold.Covers(report) {
		return &g.hold
	}
	if h := r.report.agent.hold; h != nil && h.Covers(report) {
		return h
	}
	return nil
}

// isHeldByOther reports whether a hold other than h covers r. A hold that preserves a region may replace the hold of an
// agent.
func (w *writer) isHeldByOther(r *record, h *hold, now time.Time) bool {
	other := w.holdOf(r, h.kind, now)
	if other == nil {
		return false
	}
	_, isOfAgent := other.subject.(*agent)
	return !isOfAgent || !h.KeepsRegion
}

// updateQueuedHolds updates the holds of the agents and regions that changed.
func (w *writer) updateQueuedHolds(now time.Time) {
	for len(w.queuedHolds) > 0 {
		next := w.queuedHolds[0]
		w.queuedHolds = w.queuedHolds[1:]
		next.updateHold(w, now)
	}
	w.queuedHolds = nil
}
