package registry

import (
	"iter"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/status"
)

// HoldState describes an active mass-failure hold of a service, an agent or a region. The hold of a region by a single
// agent has both the region and the agent.
type HoldState struct {
	Service, Agent, Region string
	Kind                   status.ReportKind
	Since                  time.Time
	// Until is the end of the hold, zero for a hold without a time limit.
	Until time.Time
}

// Covers reports whether the hold covers b.
func (s HoldState) Covers(b *Backend) bool {
	switch {
	case !b.Held:
		return false
	case s.Region != "":
		return b.Reason == status.ReasonHeldRegion && b.Region == s.Region
	case s.Agent != "":
		return b.Reason == status.ReasonHeldAgent && b.AgentID == s.Agent
	case s.Kind == status.ReportWarning:
		return b.Reason == status.ReasonWarningHeld && b.Service == s.Service
	}
	return b.Reason == status.ReasonHeld && b.Service == s.Service
}

// HeldBackends yields the backends of v that the hold covers.
func (s HoldState) HeldBackends(v *View) iter.Seq[*Backend] {
	all := v.Backends()
	if s.Service != "" {
		all = slices.Values(v.Service(s.Service))
	}
	return func(yield func(*Backend) bool) {
		for b := range all {
			if s.Covers(b) && !yield(b) {
				return
			}
		}
	}
}

// Subject returns the service, or the kind and name of the agent or region.
func (s HoldState) Subject() string {
	switch {
	case s.Region != "":
		return "region " + s.Region
	case s.Agent != "":
		return "agent " + s.Agent
	}
	return s.Service
}

// HoldChange is the beginning or the end of a hold.
type HoldChange struct {
	HoldState
	// Began is true at the start and false at the end.
	Began bool
	// Backends lists the backends that the hold covers after its start, or covered until its end.
	Backends []ID
	// EndReason is the reason of the end. It is "" at the beginning, and after an operator's release.
	EndReason string
}

// HeldKind returns the kind of the report of b in a hold. b.Held must be true.
func (b *Backend) HeldKind() status.ReportKind {
	if b.Reason == status.ReasonWarningHeld {
		return status.ReportWarning
	}
	return status.ReportUnhealthy
}

// hold is the mass-failure hold of a subject for a kind of report.
type hold struct {
	status.Hold
	subject subject
	kind    status.ReportKind
	timer   deadlineAt
}

// subject is a service, an agent or a region, which mass-failure protection protects.
type subject interface {
	// reportedRecords returns the records that may have unconfirmed reports, in a new slice.
	reportedRecords() []*record
	// servingWithout returns the number of serving backends without the backends in stopped.
	servingWithout(stopped []*record) int
	// queueHoldUpdate makes publishChanges update the holds of the subject.
	queueHoldUpdate(w *writer)
	// nameIn sets the subject of a state.
	nameIn(*HoldState)
}

func (s *service) reportedRecords() []*record { return slices.Clone(s.records) }
func (s *service) queueHoldUpdate(w *writer)  { w.markDirty(s, false) }
func (s *service) nameIn(st *HoldState)       { st.Service = s.name }

func (s *service) servingWithout(stopped []*record) (n int) {
	for _, r := range s.records {
		if r.published.MayServe && !slices.Contains(stopped, r) {
			n++
		}
	}
	return n
}

// state returns the hold as readers see it.
func (h *hold) state(settings status.Protection) HoldState {
	s := HoldState{Kind: h.kind, Since: h.Since, Until: h.Until(settings)}
	h.subject.nameIn(&s)
	return s
}

// heldReason returns the reason of a backend with a report of unhealthy in the hold.
func (h *hold) heldReason() string {
	switch h.subject.(type) {
	case *agent:
		return status.ReasonHeldAgent
	case *region:
		return status.ReasonHeldRegion
	}
	return status.ReasonHeld
}

// handleDeadline implements deadlineHandler: publishChanges, which follows, updates the hold.
func (h *hold) handleDeadline(w *writer, at deadlineAt, _ time.Time) {
	if h.timer == at {
		h.timer = 0
		h.subject.queueHoldUpdate(w)
	}
}
