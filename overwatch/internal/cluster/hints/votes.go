package hints

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

const (
	// probeEvery is the time between two requests to each peer while agreement is on, which show who can vote.
	probeEvery = 10 * time.Second
	// voterLife is the time for which an answer shows that a peer can vote.
	voterLife = 3 * probeEvery
	// maxAge bounds the age of a result in a vote.
	maxAge = 24 * time.Hour
)

// answer is the plain text of an answer to a hint.
type answer struct {
	Checks bool   `json:"checks"` // the node makes own checks
	Votes  []vote `json:"votes"`  // of the backends in the request, in their order
}

// vote is the result of the last own check of a backend.
type vote struct {
	State string        `json:"state"` // healthy, unhealthy or unknown
	Age   time.Duration `json:"age"`   // since the end of the check, as clocks of nodes differ
}

// answerTo returns the votes of this node. It has no vote about an unknown or unchecked backend, and about a failed
// check that it ignores because of self-isolation.
func (e *Exchange) answerTo(ids []registry.ID, checks bool, now time.Time) answer {
	a := answer{Checks: checks, Votes: make([]vote, len(ids))}
	for i, id := range ids {
		state, at := check.StateUnknown, now
		if b := e.o.Backend(id); b != nil && checks {
			state, at = lastResult(&b.OwnCheck), b.OwnCheck.At
		}
		a.Votes[i] = vote{State: state.String(), Age: max(0, now.Sub(at))}
	}
	return a
}

// lastResult returns the result of the last own check, without the thresholds.
func lastResult(v *registry.OwnCheck) check.State {
	switch {
	case v.IsIgnored:
		return check.StateUnknown
	case v.Failures > 0:
		return check.StateUnhealthy
	case v.Successes > 0:
		return check.StateHealthy
	}
	return check.StateUnknown
}

// parseAnswer parses the answer of a peer to a request about a number of backends.
func parseAnswer(plain []byte, backends int) (a answer, err error) {
	if err := json.Unmarshal(plain, &a); err != nil {
		return answer{}, errors.New("its answer cannot be read: run the same major version on all nodes")
	}
	if len(a.Votes) != backends {
		return answer{}, fmt.Errorf("its answer has %d votes about %d backends", len(a.Votes), backends)
	}
	return a, nil
}

// votesOf returns the votes of a node about failures that wait for votes.
func (e *Exchange) votesOf(node string, ids []registry.ID, a answer, now time.Time) (votes []registry.NodeVote) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, id := range ids {
		if _, isAsked := e.asked[id]; !isAsked || node == e.o.NodeID {
			continue
		}
		v := registry.NodeVote{ID: id, Vote: status.Vote{Node: node, At: now.Add(-min(max(a.Votes[i].Age, 0), maxAge))}}
		switch a.Votes[i].State {
		case check.StateHealthy.String():
			v.State = check.StateHealthy
		case check.StateUnhealthy.String():
			v.State = check.StateUnhealthy
		}
		votes = append(votes, v)
	}
	return votes
}

// noteVoter stores whether a node can vote.
func (e *Exchange) noteVoter(node string, canVote bool) {
	needed := e.settings.Get().Agreement.Nodes - 1
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	switch {
	case !canVote || node == e.o.NodeID:
		delete(e.voters, node)
	case len(e.voters) < maxPeers:
		e.voters[node] = now
	}
	if e.countVoters(now) >= needed {
		e.possible = now
	}
}

// countVoters returns the number of nodes that can vote. The caller holds mu.
func (e *Exchange) countVoters(now time.Time) (count int) {
	for node, last := range e.voters {
		if now.Sub(last) < voterLife {
			count++
		} else {
			delete(e.voters, node)
		}
	}
	return count
}

// Trouble returns the reason why agreement is not possible at present, "" if it is possible or off.
func (e *Exchange) Trouble() string {
	settings := e.settings.Get()
	needed, now := settings.Agreement.Nodes-1, time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if needed < 1 || !settings.Checks || now.Sub(e.possible) < voterLife {
		return ""
	}
	text := fmt.Sprintf("%d of %d other nodes that overwatch.validation.agree requires answer and make own checks "+
		"since %s", e.countVoters(now), needed, e.possible.UTC().Format(time.RFC3339))
	if len(settings.Secret) == 0 {
		text = "overwatch.validation.agree requires overwatch.dnssec.key_sync.secret, the same on all nodes"
	}
	return fmt.Sprintf("%s: this node decides without other nodes, %s after its own check has failed", text,
		settings.Agreement.Within)
}
