package registry

import (
	"context"
	"time"

	"gslb.internal/shared/check"
)

// A verdict that changes no status is shown by publishing the whole list of its service anew. In a service with more
// than smallService backends that waits until confirmSoon has passed, so that its cost does not grow with the square of
// the size.
const (
	smallService = 256
	confirmSoon  = 250 * time.Millisecond
)

// ApplyCheckResult takes the outcome of one of this node's own checks. A verdict on a backend that is no longer known,
// or not checked any more, changes nothing. What a verdict changes is visible on return; of a large service, the time
// and figures of one that changes nothing may be a little later.
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
			w.dropOldLastKnown(rec)
		}
		w.publishOwnCheck(rec, w.nextOwnCheck(rec, v), now)
		w.refreshBackend(rec, now)
		w.saveOldLatency(rec, now)
		return nil
	})
}

// dropOldLastKnown drops an outdated memory of health at the first failed check. Until a check, the answers are those
// of before the restart; but only what was known a short time ago takes as many as failure_threshold failed checks to
// change.
func (w *writer) dropOldLastKnown(r *record) {
	if r.isLastKnownOld && r.lastKnown == check.StateHealthy {
		r.lastKnown, r.isLastKnownOld = check.StateUnhealthy, false
		w.markUnsaved(r)
	}
}

// publishOwnCheck publishes v as the Validation of r. The caller refreshes r, which derives the status from it.
func (w *writer) publishOwnCheck(r *record, v OwnCheck, now time.Time) {
	next := *r.published
	next.OwnCheck = v
	if next.isServable() {
		next.LastHealthyAt = now
	}
	r.published = &next
	if s := r.service; len(s.records) > smallService {
		w.setDeadline(s, &s.timer, now.Add(confirmSoon))
	} else {
		w.markDirty(s, false)
	}
}

// handleDeadline implements timed: verdicts that only confirmed, or a service that is to settle, have waited for long
// enough.
func (s *service) handleDeadline(w *writer, at deadlineAt, _ time.Time) {
	if s.timer != at {
		return
	}
	s.timer = 0
	if w.services[s.name] == s {
		w.markDirty(s, false)
	}
}

// nextOwnCheck returns the Validation of r that follows from the one before and the verdict v.
func (w *writer) nextOwnCheck(r *record, v CheckResult) OwnCheck {
	before := r.published.OwnCheck
	next := before
	next.LastError = v.Err
	if v.Outcome == check.Unknown {
		return next // the check could not be made: that says nothing about the backend
	}
	next.State, next.At, next.Latency, next.interval = v.State, v.At, v.Latency, w.checkInterval(r)
	if v.Outcome == check.Success {
		next.LastError, next.Failures, next.Successes = "", 0, before.Successes+1
	} else {
		next.Failures, next.Successes = before.Failures+1, 0
	}
	next.IsIgnored = w.isIgnored(before, next)
	return next
}
