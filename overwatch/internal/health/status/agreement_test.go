package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

const within = 5 * time.Second

var two = status.Agreement{Nodes: 2, Within: within}

func voteOf(node string, state check.State, after time.Duration) status.Vote {
	return status.Vote{Node: node, State: state, At: begin.Add(after)}
}

func TestDispute_NeedsARecentFailureOfASecondNode(t *testing.T) {
	const yes, no, nothing = check.StateHealthy, check.StateUnhealthy, check.StateUnknown
	const open, agreed, alone = status.DecisionOpen, status.DecisionAgreed, status.DecisionAlone
	three := status.Agreement{Nodes: 3, Within: within}
	for name, tc := range map[string]struct {
		settings status.Agreement
		votes    []status.Vote
		after    time.Duration
		want     status.Decision
	}{
		"no votes":                   {two, nil, 0, open},
		"silent nodes":               {two, []status.Vote{voteOf("b", nothing, 0), voteOf("c", nothing, 0)}, 0, open},
		"a healthy vote":             {two, []status.Vote{voteOf("b", yes, 0)}, 0, open},
		"a failure":                  {two, []status.Vote{voteOf("b", yes, 0), voteOf("c", no, 0)}, 0, agreed},
		"a failure just before":      {two, []status.Vote{voteOf("b", no, -within)}, 0, agreed},
		"an old failure":             {two, []status.Vote{voteOf("b", no, -within-1)}, 0, open},
		"one failure of two":         {three, []status.Vote{voteOf("b", no, 0)}, 0, open},
		"two votes of one node":      {three, []status.Vote{voteOf("b", no, 0), voteOf("b", no, 1)}, 0, open},
		"two failures":               {three, []status.Vote{voteOf("b", no, 0), voteOf("c", no, 1)}, 0, agreed},
		"the last vote counts":       {two, []status.Vote{voteOf("b", no, 0), voteOf("b", yes, 1)}, 0, open},
		"just before the end":        {two, []status.Vote{voteOf("b", yes, 0)}, within - 1, open},
		"the end":                    {two, []status.Vote{voteOf("b", yes, 0)}, within, alone},
		"a failure at the end":       {two, []status.Vote{voteOf("b", no, within)}, within, agreed},
		"more votes than are stored": {two, manyVotes(), 0, open},
	} {
		d := &status.Dispute{Since: begin}
		for _, v := range tc.votes {
			d = d.WithVote(tc.settings, v)
		}
		got := d.Decide(tc.settings, begin.Add(tc.after))
		if got.Decision != tc.want || len(got.Votes) > status.MaxVotes {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
		if later := got.WithVote(two, voteOf("z", no, 0)).Decide(tc.settings, begin); got.Decision != status.DecisionOpen &&
			later.Decision != got.Decision {
			t.Errorf("%s: the decision changes to %v", name, later)
		}
	}
}

// manyVotes contains the maximum stored number of healthy votes, and failures of further nodes.
func manyVotes() (votes []status.Vote) {
	for i := range 2 * status.MaxVotes {
		state := check.StateHealthy
		if i >= status.MaxVotes {
			state = check.StateUnhealthy
		}
		votes = append(votes, voteOf(fmt.Sprintf("n%02d", i), state, 0))
	}
	return votes
}

// A repeated vote changes nothing, so that its backend is not published again. The age of a result varies by the time
// of the request.
func TestWithVote_KeepsTheDisputeIfNothingChanges(t *testing.T) {
	const yes, no, nothing = check.StateHealthy, check.StateUnhealthy, check.StateUnknown
	full := &status.Dispute{Since: begin}
	for _, v := range manyVotes() {
		full = full.WithVote(two, v)
	}
	one := func(v status.Vote) *status.Dispute { return (&status.Dispute{Since: begin}).WithVote(two, v) }
	for name, tc := range map[string]struct {
		d         *status.Dispute
		v         status.Vote
		isChanged bool
	}{
		"healthy, later":                {one(voteOf("b", yes, 0)), voteOf("b", yes, time.Second), false},
		"unknown, earlier":              {one(voteOf("b", nothing, 0)), voteOf("b", nothing, -time.Hour), false},
		"a failure, a little earlier":   {one(voteOf("b", no, 0)), voteOf("b", no, -time.Millisecond), false},
		"an old failure, later":         {one(voteOf("b", no, -time.Hour)), voteOf("b", no, -within-1), false},
		"a further node than MaxVotes":  {full, voteOf("z", no, 0), false},
		"an old failure, then a new":    {one(voteOf("b", no, -within-1)), voteOf("b", no, 0), true},
		"a failure, then a success":     {one(voteOf("b", no, 0)), voteOf("b", yes, 0), true},
		"the vote of another node":      {one(voteOf("b", yes, 0)), voteOf("a", yes, 0), true},
		"a result of an unchecked node": {one(voteOf("b", nothing, 0)), voteOf("b", yes, 0), true},
	} {
		next := tc.d.WithVote(two, tc.v)
		if isChanged := next != tc.d; isChanged != tc.isChanged {
			t.Errorf("%s: changed %t", name, isChanged)
		}
		if !next.EqualExceptVotes(tc.d) {
			t.Errorf("%s: %v differs from %v without votes", name, next, tc.d)
		}
	}
}

func TestEqualExceptVotes(t *testing.T) {
	d := &status.Dispute{Since: begin}
	var missing *status.Dispute
	if !missing.EqualExceptVotes(nil) || missing.EqualExceptVotes(d) || d.EqualExceptVotes(nil) ||
		d.EqualExceptVotes(d.Decide(two, begin.Add(within))) || d.EqualExceptVotes(&status.Dispute{Since: begin.Add(1)}) {
		t.Error("different disputes are equal")
	}
}

func TestDispute_String(t *testing.T) {
	d := (&status.Dispute{Since: begin}).WithVote(two, voteOf("c", check.StateUnknown, 0)).
		WithVote(two, voteOf("b", check.StateUnhealthy, 0))
	for _, tc := range []struct {
		d    *status.Dispute
		want string
	}{
		{nil, ""}, {&status.Dispute{Since: begin}, "serves until other nodes confirm it; votes: none"},
		{d.Decide(two, begin), "confirmed by other nodes; votes: b unhealthy, c unknown"},
		{(&status.Dispute{Since: begin}).Decide(two, begin.Add(within)),
			"not confirmed by other nodes within agree_within; votes: none"},
	} {
		if got := tc.d.String(); !strings.HasSuffix(got, tc.want) {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// All partitions of 3 and 5 nodes: each subset of broken links between nodes, with each subset of nodes that reach the
// backend. While it waits, a node removes the backend only if another node that it reaches does not reach the backend
// either. A single isolated node therefore removes nothing.
func TestDispute_AllPartitions(t *testing.T) {
	for _, nodes := range []int{3, 5} {
		var links [][2]int
		for a := range nodes {
			for b := range a {
				links = append(links, [2]int{b, a})
			}
		}
		for broken := range 1 << len(links) {
			for blind := range 1 << nodes { // the nodes that do not reach the backend
				checkPartition(t, nodes, links, broken, blind)
			}
		}
	}
}

func checkPartition(t *testing.T, nodes int, links [][2]int, broken, blind int) {
	t.Helper()
	isBlind := func(n int) bool { return blind>>n&1 == 1 }
	reaches := make([][]int, nodes)
	for i, l := range links {
		if broken>>i&1 == 0 {
			reaches[l[0]], reaches[l[1]] = append(reaches[l[0]], l[1]), append(reaches[l[1]], l[0])
		}
	}
	for n := range nodes {
		if !isBlind(n) {
			continue
		}
		d, confirmed := &status.Dispute{Since: begin}, false
		for _, other := range reaches[n] {
			state := check.StateHealthy
			if isBlind(other) {
				state, confirmed = check.StateUnhealthy, true
			}
			d = d.WithVote(two, voteOf(fmt.Sprint(other), state, 0))
		}
		before, after := d.Decide(two, begin.Add(within-1)), d.Decide(two, begin.Add(within))
		if before.IsOpen() == confirmed || after.IsOpen() {
			t.Errorf("%d nodes, broken links %b, blind nodes %b: node %d decides %v, then %v", nodes, broken, blind, n,
				before, after)
		}
	}
}
