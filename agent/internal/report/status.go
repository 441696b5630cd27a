package report

import (
	"slices"
	"sync"
	"time"

	"gslb.internal/shared/wire"
)

// NodeState is how one overwatch node looks from here.
type NodeState struct {
	Address         string // as configured
	NodeID, Version string // as the node introduced itself; "" before
	// Connected says that the node takes this agent's messages.
	Connected bool
	Since     time.Time // of the newest change of Connected
	LastAck   time.Time // of the newest acknowledgement
	RTT       time.Duration
	// Path is "udp", or "tcp" while datagrams do not get through.
	Path string
	// LastError is why the node cannot be reached, "" while it can.
	LastError string
	// Rejects are what the node does not take, and why.
	Rejects []Rejection
}

// Rejection is something that a node does not take from this agent.
type Rejection struct {
	Code    wire.RejectCode
	Service string // "" when it is about the agent as a whole
	Backend string // address:port, "" when it is about the service as a whole
	Detail  string // by the node, for people
}

// status is the NodeState that a link publishes. The link writes it, anybody reads it.
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

// edit changes the state. Rejects must be replaced, not edited.
func (s *status) edit(f func(*NodeState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
}

// String returns code and what it is about, in one line.
func (r Rejection) String() string {
	text := r.Code.String()
	for _, part := range []string{r.Service, r.Backend, r.Detail} {
		if part != "" {
			text += " " + part
		}
	}
	return text
}
