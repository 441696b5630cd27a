package registry

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

// NodeVote is the vote of another node about a backend.
type NodeVote struct {
	ID ID
	status.Vote
}

// ApplyVotes applies votes of other nodes about failures that wait for agreement. It ignores other votes.
func (r *Registry) ApplyVotes(ctx context.Context, votes []NodeVote) error {
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		for _, v := range votes {
			if v.At.After(now) {
				v.At = now
			}
			rec := w.lookupRecord(v.ID)
			if rec == nil || !rec.dispute.IsOpen() {
				continue
			}
			if next := rec.dispute.WithVote(w.timing.Agreement, v.Vote); next != rec.dispute {
				rec.dispute = next
				w.refreshBackend(rec, now)
			}
		}
		return nil
	})
}

// updateDispute begins, decides or ends the dispute of r. A dispute begins if the own check of a serving backend fails
// while agreement is on. It ends when the own check succeeds, expires or is ignored.
func (w *writer) updateDispute(r *record, now time.Time) {
	settings := w.timing.Agreement
	state, _ := w.ownCheckState(r, now)
	switch {
	case state != check.StateUnhealthy, !settings.IsOn() && r.dispute.IsOpen():
		r.dispute = nil
		return
	case r.dispute != nil:
	case !settings.IsOn():
		return
	case !r.published.isServable():
		r.dispute = &status.Dispute{Since: now, Decision: status.DecisionNone}
	default:
		r.dispute = &status.Dispute{Since: now}
		w.options.FailureDisputed(r.id)
	}
	r.dispute = r.dispute.Decide(settings, now)
}

// ownCheckState returns the state of r according to the own checks: StateUnknown without a current result. isIgnored is
// true if a failed check is ignored because of self-isolation. If the agent is silent, the first failure after its last
// message makes the state unhealthy.
func (w *writer) ownCheckState(r *record, now time.Time) (state check.State, isIgnored bool) {
	if !w.hasCurrentCheck(r, now) {
		return check.StateUnknown, false
	}
	v := &r.published.OwnCheck
	if v.IsIgnored {
		return check.StateUnknown, true
	}
	if c := r.report; c != nil && v.State == check.StateHealthy && w.isStale(c.agent, now) &&
		v.hasOnlyFailedSince(c.agent.lastSeen) {
		return check.StateUnhealthy, false
	}
	return v.State, false
}

// publishedDispute returns the dispute of r for readers, nil without votes to wait for.
func (r *record) publishedDispute() *status.Dispute {
	if r.dispute == nil || r.dispute.Decision == status.DecisionNone {
		return nil
	}
	return r.dispute
}
