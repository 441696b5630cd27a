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

// Validated takes the outcome of one of this node's own checks. A verdict on a backend that is no longer known, or
// not checked any more, changes nothing. What a verdict changes is visible on return; of a large service,
// the time and figures of one that changes nothing may be a little later.
func (r *Registry) Validated(ctx context.Context, v Verdict) error {
	return tell(ctx, r, func(w *writer, now time.Time) error {
		rec := w.lookup(v.ID)
		if rec == nil || !w.checks(rec) {
			return nil
		}
		if v.At.IsZero() || v.At.After(now) {
			v.At = now
		}
		if v.Outcome == check.Failure {
			w.doubt(rec)
		}
		w.setValidation(rec, w.nextValidation(rec, v), now)
		w.refresh(rec, now)
		w.keepLatency(rec, now)
		return nil
	})
}

// doubt drops an outdated memory of health at the first failed check. Until a check, the answers are those of before
// the restart; but only what was known a short time ago takes as many as failure_threshold failed checks to change.
func (w *writer) doubt(r *record) {
	if r.outdated && r.remembered == check.StateHealthy {
		r.remembered, r.outdated = check.StateUnhealthy, false
		w.keep(r)
	}
}

// setValidation publishes v as the Validation of r. The caller refreshes r, which derives the status from it.
func (w *writer) setValidation(r *record, v Validation, now time.Time) {
	next := *r.pub
	next.Validation = v
	if next.fit() {
		next.LastHealthyAt = now
	}
	r.pub = &next
	if s := r.service; len(s.records) > smallService {
		w.wake(s, &s.timer, now.Add(confirmSoon))
	} else {
		w.mark(s, false)
	}
}

// due implements timed: verdicts that only confirmed, or a service that is to settle, have waited for long enough.
func (s *service) due(w *writer, at deadlineAt, _ time.Time) {
	if s.timer != at {
		return
	}
	s.timer = 0
	if w.services[s.name] == s {
		w.mark(s, false)
	}
}

// nextValidation returns the Validation of r that follows from the one before and the verdict v.
func (w *writer) nextValidation(r *record, v Verdict) Validation {
	before := r.pub.Validation
	next := before
	next.Err = v.Err
	if v.Outcome == check.Unknown {
		return next // the check could not be made: that says nothing about the backend
	}
	next.State, next.At, next.Latency, next.interval = v.State, v.At, v.Latency, w.checkInterval(r)
	if v.Outcome == check.Success {
		next.Err, next.Failures, next.Successes = "", 0, before.Successes+1
	} else {
		next.Failures, next.Successes = before.Failures+1, 0
	}
	next.SetAside = w.setAside(before, next)
	return next
}
