package report

import (
	"slices"
	"strings"
	"sync"
	"time"

	"gslb.internal/shared/wire"
)

// NodeState is the agent's view of an overwatch node.
type NodeState struct {
	Address         string // as configured
	NodeID, Version string // name in the node's Hello; "" before the first
	// Connected is true while the node accepts this agent's messages.
	Connected bool
	Since     time.Time // last change of Connected
	LastAck   time.Time // last Ack
	RTT       time.Duration
	// Path is "udp", or "tcp" while datagrams are blocked.
	Path string
	// LastError is the reason why the node is unreachable, or "".
	LastError string
	// Duplicate is true while the node reports another process with this agent's identity.
	Duplicate bool
	// Rejects are the node's current refusals.
	Rejects []Rejection
}

// Rejection is a node's rejection of a part of the agent's messages.
type Rejection struct {
	Code    wire.RejectCode
	Service string    // "" when it is about the agent as a whole
	Backend string    // address:port, "" when it is about the service as a whole
	Detail  string    // the node's explanation
	Rule    wire.Rule // rule of wire.CodePolicy; 0 if the node did not report it
}

// status is the NodeState that a link publishes. The link writes it; any goroutine may read it.
type status struct {
	mu    sync.Mutex
	state NodeState
}

func (s *status) read() NodeState {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.Rejects = slices.Clone(state.Rejects)
	return state
}

// edit changes the state. f must replace Rejects, not edit it in place.
func (s *status) edit(f func(*NodeState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
}

// rule describes the rule of a rejected backend, or returns "" if the node did not report it.
func (r Rejection) rule() string { return strings.ReplaceAll(r.Rule.String(), "<service>", r.Service) }

// String returns the code and its subject on one line.
func (r Rejection) String() string {
	text := r.Code.String()
	for _, part := range []string{r.Service, r.Backend, r.Detail, r.rule()} {
		if part != "" {
			text += " " + part
		}
	}
	return text
}

// sendTransition sends a changed backend and returns its sequence number, or 0 after an error. Even attempts, counted
// from 0, use a stream, odd attempts a datagram, in case streams are blocked. For a backend that the agent no longer
// has, sendTransition sends no message and over is true, because the node has already removed the backend after a
// heartbeat and would add it as a new backend.
func (l *link) sendTransition(b wire.Backend, try int) (seq uint64, over bool) {
	b, there := l.renewed(b)
	if !there {
		return 0, true
	}
	message, seq, err := l.seal(l.session.boot, wire.TypeTransition, &wire.Transition{Backend: b})
	if err != nil {
		l.trouble(err)
		return 0, false
	}
	if try%2 == 1 && len(message) <= wire.MaxDatagram {
		err = l.peer.datagram(message)
	} else if !l.startTask(func() error { return l.peer.stream(message) }, func(err error,
		_ time.Time) {
		l.streamed(err)
	}) {
		return 0, false
	}
	l.streamed(err)
	return seq, false
}

// transitionTaken handles the Ack to a transition.
func (l *link) transitionTaken(ack *wire.Ack, now time.Time) {
	l.pending.removeAcknowledged(ack.AckedSeq)
	l.refused.add(l, scopeClaims, claimRejections(ack))
	l.proveAgain(ack, now)
	l.acknowledgedAt(now)
}
