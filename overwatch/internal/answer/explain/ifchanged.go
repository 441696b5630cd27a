package explain

import (
	"slices"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// Loss describes how a change would degrade the answers of a load-balanced name.
type Loss struct {
	// Outcome is policy.NoHealthyBackend if clients would lose all addresses of a family, policy.Fallback if they would
	// receive the fallback answer.
	Outcome          policy.Outcome
	Families         []policy.Family // families with degraded answers
	Serving, Minimum int             // number of remaining serving backends, and the required number
}

// IfChanged repeats the decisions of a load-balanced name for all clients with changed candidates, and returns the
// loss. It assumes that drains have ended. change edits a copy of each candidate, and returns false to remove the
// candidate. loses is false if no answer becomes worse, and for other names.
func IfChanged(view *zone.View, name string, change func(*policy.Candidate) bool) (loss Loss, loses bool, err error) {
	for _, family := range []policy.Family{policy.IPv4, policy.IPv6} {
		audiences, err := view.ClientGroups(name, family)
		if err != nil {
			return Loss{}, false, err
		}
		for i := range audiences {
			basis, client := audiences[i].Input, audiences[i].ClientLocation()
			after := candidatesAfter(basis, change)
			outcome, worse := worsened(basis.Decide(family, client), basis.DecideWith(after, family, client))
			if !worse {
				continue
			}
			loss.Serving, loss.Minimum = basis.CountServing(after)
			if loss.Outcome != policy.NoHealthyBackend {
				loss.Outcome = outcome
			}
			if !slices.Contains(loss.Families, family) {
				loss.Families = append(loss.Families, family)
			}
		}
	}
	return loss, len(loss.Families) > 0, nil
}

// candidatesAfter returns the candidates of a decision input after a change and after the current drains.
func candidatesAfter(basis *policy.DecisionInput, change func(*policy.Candidate) bool) []policy.Candidate {
	var after []policy.Candidate
	for _, c := range basis.Candidates {
		if c.Info != nil && !c.Info.DrainEndsAt.IsZero() {
			markDrainedTo(&c, c.Info.DrainTo)
		}
		if change(&c) {
			after = append(after, c)
		}
	}
	return after
}

// markDrainedTo changes a candidate to its state at the end of a drain to the given share.
func markDrainedTo(c *policy.Candidate, share float64) {
	if share == 0 {
		MarkDrained(c)
		return
	}
	c.Share = min(c.Share, share)
}

// MarkDrained changes a candidate to its state at the end of a full drain. It returns true, because the candidate
// remains (see IfChanged).
func MarkDrained(c *policy.Candidate) bool {
	c.MayServe, c.Share = false, 0
	if c.Info != nil && !c.Info.DrainEndsAt.IsZero() {
		c.LastHealthy = c.Info.DrainEndsAt
	}
	return true
}

// worsened reports whether an answer becomes worse: from any answer to none, or from a regular to a fallback answer.
func worsened(before, after policy.Decision) (outcome policy.Outcome, worse bool) {
	if len(before.Members) == 0 {
		return "", false
	}
	if len(after.Members) == 0 {
		return policy.NoHealthyBackend, true
	}
	return policy.Fallback, after.Outcome == policy.Fallback && before.Outcome != policy.Fallback
}
