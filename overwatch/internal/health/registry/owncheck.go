package registry

import (
	"context"
	"time"

	"gslb.internal/shared/check"
)

// Publication copies the list of all backends of a service. In a service with more than smallService backends,
// publication of a result that changes no status is delayed by publishDelay, so that the total cost is not quadratic.
const (
	smallService = 256
	publishDelay = 250 * time.Millisecond
)

// ApplyCheckResult applies the result of an own check. It ignores results of unknown backends and of backends without
// an own check. Changes are published when it returns. For an unchanged result in a large service, the times follow
// within publishDelay.
func (r *Registry) ApplyCheckResult(ctx context.Context, v CheckResult) error {
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		rec := w.lookupRecord(v.ID)
		if rec == nil || !w.isChecked(rec) {
			return nil
		}
		if v.At.IsZero() || v.At.After(now) {
			v.At = now
		}
		if v.Outcome == check.Failure {
			w.noteFailedCheck(rec)
			w.dropOldLastKnown(rec)
		}
		w.publishOwnCheck(rec, w.nextOwnCheck(rec, v), now)
		w.refreshBackend(rec, now)
		w.saveOldLatency(rec, now)
		return nil
	})
}

// noteFailedCheck calls Options.FailureSeen for the first failed own check of a serving backend. During self-isolation
// it does not call it, because the network of this node fails.
func (w *writer) noteFailedCheck(r *record) {
	if v := &r.published.OwnCheck; v.Failures > 0 || v.State == check.StateUnhealthy || w.isolation.isActive {
		return
	}
	if r.published.isServable() {
		w.options.FailureSeen(r.id)
	}
}

// noteContradiction calls Options.ReportContradicts if a new report of the agent of r contradicts the own check.
func (w *writer) noteContradiction(r *record, reported *bool, now time.Time) {
	own := r.published.OwnCheck.State
	if reported == nil || own == check.StateUnknown || own == stateOf(*reported) || !w.isChecked(r) ||
		r.hasUnauthorizedReporter() || !r.report.agent.contradictions.Take(now) {
		return
	}
	w.options.ReportContradicts(r.id)
}

// dropOldLastKnown is called for a failed check. It changes an old last known state from healthy to unhealthy, so that
// one failed check is sufficient. A recent state, and with agreement between nodes even an old state, changes only
// after failure_threshold failed checks.
func (w *writer) dropOldLastKnown(r *record) {
	if !w.timing.Agreement.IsOn() && r.isLastKnownOld && r.lastKnown == check.StateHealthy {
		r.lastKnown, r.isLastKnownOld = check.StateUnhealthy, false
		w.markUnsaved(r)
	}
}

// publishOwnCheck replaces the OwnCheck of r. The caller refreshes r.
func (w *writer) publishOwnCheck(r *record, v OwnCheck, now time.Time) {
	next := *r.published
	next.OwnCheck = v
	if next.isServable() {
		next.LastHealthyAt = now
	}
	r.published = &next
	if s := r.service; len(s.records) > smallService {
		w.setDeadline(s, &s.timer, now.Add(publishDelay))
	} else {
		w.markDirty(s, false)
	}
}

// handleDeadline implements deadlineHandler: it publishes delayed results, and removes replaced servers.
func (s *service) handleDeadline(w *writer, at deadlineAt, _ time.Time) {
	if s.timer != at {
		return
	}
	s.timer = 0
	if w.services[s.name] == s {
		w.markDirty(s, false)
	}
}

// nextOwnCheck returns the OwnCheck of r after the result v.
func (w *writer) nextOwnCheck(r *record, v CheckResult) OwnCheck {
	before := r.published.OwnCheck
	next := before
	next.LastError = v.Err
	if v.Outcome == check.Unknown {
		return next // the check could not run, so the state of the backend is unchanged
	}
	next.State, next.At, next.Latency, next.interval = v.State, v.At, v.Latency, w.checkInterval(r)
	if v.Outcome == check.Success {
		next.LastError, next.Failures, next.Successes, next.succeededAt = "", 0, before.Successes+1, v.At
	} else {
		next.Failures, next.Successes = before.Failures+1, 0
	}
	next.IsIgnored = w.isIgnored(before, next)
	return next
}
