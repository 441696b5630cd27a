package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gslb.internal/shared/check"
)

// Agreement has the settings of overwatch.validation.agree. The zero value is off.
type Agreement struct {
	// Nodes is the number of nodes that must see a failure, including this node. Below 2, agreement is off.
	Nodes int
	// Within is the time after which this node decides without other nodes.
	Within time.Duration
}

// IsOn reports whether failures of own checks need agreement.
func (a Agreement) IsOn() bool { return a.Nodes > 1 }

// MaxVotes bounds the votes of a dispute. It is the maximum number of peers.
const MaxVotes = 32

// Vote is the result of another node's last own check of a backend.
type Vote struct {
	Node string
	// State is StateUnhealthy after a failed check, StateHealthy after a successful check, and StateUnknown without a
	// result: a silent node is never treated as failed.
	State check.State
	At    time.Time // end of the check, according to the clock of this node
}

// Decision is the outcome of a dispute.
type Decision uint8

// The decisions.
const (
	// DecisionOpen means that this node waits for votes: the backend still serves.
	DecisionOpen Decision = iota
	// DecisionAgreed means that enough other nodes see the failure.
	DecisionAgreed
	// DecisionAlone means that this node decided without agreement, after Agreement.Within.
	DecisionAlone
	// DecisionNone means that no decision was needed: the backend did not serve when its own check failed.
	DecisionNone
)

// Dispute is a failure of a backend according to the own checks of this node, with the votes of other nodes. A Dispute
// is immutable; its methods return the changed Dispute.
type Dispute struct {
	Since    time.Time
	Decision Decision
	Votes    []Vote // by node
}

// IsOpen reports whether the failure waits for votes. d may be nil.
func (d *Dispute) IsOpen() bool { return d != nil && d.Decision == DecisionOpen }

// WithVote returns d with the vote, which replaces the previous vote of the node. It ignores votes of nodes beyond
// MaxVotes. It returns d itself for a vote with the same state and effect: nodes repeat their votes, and the time of a
// vote has an error.
func (d *Dispute) WithVote(a Agreement, v Vote) *Dispute {
	at, found := slices.BinarySearchFunc(d.Votes, v.Node, func(v Vote, node string) int {
		return cmp.Compare(v.Node, node)
	})
	if !found && len(d.Votes) >= MaxVotes ||
		found && d.Votes[at].State == v.State && d.isConfirmedBy(a, d.Votes[at]) == d.isConfirmedBy(a, v) {
		return d
	}
	next := *d
	next.Votes = slices.Clone(d.Votes)
	if found {
		next.Votes[at] = v
	} else {
		next.Votes = slices.Insert(next.Votes, at, v)
	}
	return &next
}

// EqualExceptVotes reports whether d and other are the same failure with the same decision. Both may be nil.
func (d *Dispute) EqualExceptVotes(other *Dispute) bool {
	if d == nil || other == nil {
		return d == other
	}
	return d.Since.Equal(other.Since) && d.Decision == other.Decision
}

// Decide returns d with the decision at now. A decision is final: the dispute ends with the failure.
func (d *Dispute) Decide(a Agreement, now time.Time) *Dispute {
	if d.Decision != DecisionOpen {
		return d
	}
	next := *d
	switch {
	case 1+d.failing(a) >= a.Nodes:
		next.Decision = DecisionAgreed
	case !now.Before(d.Since.Add(a.Within)):
		next.Decision = DecisionAlone
	default:
		return d
	}
	return &next
}

// failing returns the number of other nodes that see the failure.
func (d *Dispute) failing(a Agreement) (count int) {
	for _, v := range d.Votes {
		if d.isConfirmedBy(a, v) {
			count++
		}
	}
	return count
}

// isConfirmedBy reports whether the node of a vote sees the failure. It ignores failures that the node saw long before
// this node.
func (d *Dispute) isConfirmedBy(a Agreement, v Vote) bool {
	return v.State == check.StateUnhealthy && !v.At.Before(d.Since.Add(-a.Within))
}

// String describes the dispute with all votes, "" for nil.
func (d *Dispute) String() string {
	if d == nil {
		return ""
	}
	text := "own checks fail since " + d.Since.UTC().Format(time.RFC3339)
	switch d.Decision {
	case DecisionOpen:
		text += ", and the backend serves until other nodes confirm it"
	case DecisionAgreed:
		text += ", confirmed by other nodes"
	case DecisionAlone:
		text += ", not confirmed by other nodes within agree_within"
	}
	if len(d.Votes) == 0 {
		return text + "; votes: none"
	}
	votes := make([]string, len(d.Votes))
	for i, v := range d.Votes {
		votes[i] = v.Node + " " + v.State.String()
	}
	return text + "; votes: " + strings.Join(votes, ", ")
}
