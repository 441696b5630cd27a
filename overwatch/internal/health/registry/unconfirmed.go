package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// unconfirmedReport returns the unconfirmed report of a kind about r, or nil.
func (r *record) unconfirmedReport(kind status.ReportKind) *status.UnconfirmedReport {
	if r.unconfirmed == nil || r.unconfirmed[kind].Since.IsZero() {
		return nil
	}
	return &r.unconfirmed[kind]
}

// updateUnconfirmed derives the unconfirmed reports about r from its agent report and its own check.
func (w *writer) updateUnconfirmed(r *record, now time.Time) {
	for kind := range status.ReportKinds {
		isUnconfirmed := w.isUnconfirmed(r, kind, now)
		switch before := r.unconfirmedReport(kind); {
		case isUnconfirmed == (before != nil):
			continue
		case !isUnconfirmed:
			*before = status.UnconfirmedReport{}
		default:
			if r.unconfirmed == nil {
				r.unconfirmed = new([status.ReportKinds]status.UnconfirmedReport)
			}
			wasDown := r.lastKnown != check.StateHealthy
			r.unconfirmed[kind] = status.UnconfirmedReport{Since: now, Accepted: wasDown, Final: wasDown}
			w.holdsOf(r.service)
		}
		w.markDirty(r.service, false)
	}
	if r.unconfirmed != nil && *r.unconfirmed == ([status.ReportKinds]status.UnconfirmedReport{}) {
		r.unconfirmed = nil
	}
}

// isUnconfirmed reports whether the agent of r reports unhealthy, or warns, and no own check confirms the report.
// Reports of silent agents and of unauthorized reporters are never unconfirmed reports, since they have no such effect.
func (w *writer) isUnconfirmed(r *record, kind status.ReportKind, now time.Time) bool {
	if r.report == nil || r.hasUnauthorizedReporter() || w.isStale(r.report.agent, now) {
		return false
	}
	if v := r.published.OwnCheck; w.hasCurrentCheck(r, now) && !v.IsIgnored && v.Failures > 0 {
		return false
	}
	if kind == status.ReportUnhealthy {
		return r.report.statement.state == wire.ClaimUnhealthy
	}
	return r.report.statement.warnings != wire.Warnings{}
}

// isRefuted reports whether the own check of r succeeds and tests as much as the agent's check. After a restart, a
// stored hold of r replaces a successful check until the first own check.
func (w *writer) isRefuted(r *record, now time.Time) bool {
	v := r.published.OwnCheck
	if v.State == check.StateUnknown {
		return r.wasHeld && v.Failures == 0 && w.timing.ValidationEnabled
	}
	return w.hasCurrentCheck(r, now) && v.State == check.StateHealthy && v.Failures == 0 && r.hasCompleteCheck()
}

// hasCompleteCheck reports whether the own check of r tests as much as the agent's check, or is the operator's check.
func (r *record) hasCompleteCheck() bool {
	d := r.effectiveDeclaration()
	if d == nil {
		return r.report.omitted == 0 || r.report.omitted == reduce.ByPolicy
	}
	if own := d.check.Value(); own != (check.Spec{}) && own != (check.Spec{Type: check.TCP}) {
		return true
	}
	// The own check of a declaration without a check is a TCP connection.
	requested, left := reduce.Check(r.report.requestedCheck.Value(), true)
	return left == 0 && requested.Type == check.TCP
}

// wouldServeWithout reports whether b would serve without the agent's report of the kind.
func (b *Backend) wouldServeWithout(kind status.ReportKind) bool {
	return b.Override == nil && (b.MayServe || kind == status.ReportUnhealthy && b.Share > 0)
}
