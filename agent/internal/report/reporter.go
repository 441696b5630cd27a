package report

import (
	"context"
	"maps"
	"sync"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/wire"
)

// Reporter reports the agent's state to all overwatch nodes. Any goroutine may call its methods.
type Reporter struct {
	agent *self
	links []*link
}

// New opens a socket per node. Run starts sending.
func New(o Options) (*Reporter, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	pins, err := openPins(o.DataDir)
	if err != nil {
		return nil, err
	}
	metrics := newMetrics(o.Registerer)
	r := &Reporter{agent: newSelf(o)}
	for _, address := range o.Nodes {
		l := newLink(r.agent, address, pins, metrics)
		dropped := func(f frame.Fault) { metrics.dropped.WithLabelValues(string(f)).Inc() }
		l.peer, err = newMemberPeer(address, frame.AgentName(o.Identity.KeyID, o.Epoch), o.Keys, l.hear, dropped)
		if err != nil {
			r.close()
			return nil, err
		}
		r.links = append(r.links, l)
	}
	return r, nil
}

// Run talks to all nodes until ctx ends. Then it says goodbye to them, for farewellTime at most. It
// must be called once.
func (r *Reporter) Run(ctx context.Context) error {
	defer r.close()
	var all sync.WaitGroup
	for _, l := range r.links {
		all.Go(func() { l.run(ctx) })
	}
	all.Wait()
	return nil
}

// Changed reports a backend's change to all nodes at once. It never blocks.
func (r *Reporter) Changed(b wire.Backend) {
	for _, l := range r.links {
		l.changed(b)
	}
}

// Warned reports the current warnings of Options.State to all nodes at once. It never blocks.
func (r *Reporter) Warned() {
	for _, l := range r.links {
		l.warned.Store(true)
		l.hurry()
	}
}

// Drained reports to all nodes at once that the backends of Options.State drain. It never blocks.
func (r *Reporter) Drained() {
	for _, l := range r.links {
		l.drained.Store(true)
		l.hurry()
	}
}

// Renew reports the current set of backends of Options.State to all nodes at once, and proves the
// tokens of their services, as in Options, if they differ from before. With prove it always proves
// them: a node whose tokens have changed since may not have believed them before. It never blocks.
func (r *Reporter) Renew(tokens map[string]string, prove bool) {
	tokens = maps.Clone(tokens)
	before := *r.agent.tokens.Swap(&tokens)
	prove = prove || !maps.Equal(tokens, before)
	for _, l := range r.links {
		if prove {
			l.reprove.Store(true)
		}
		l.restate.Store(true)
		l.hurry()
	}
}

// Nodes returns the state of the nodes as the agent sees it, in the order of the configuration.
func (r *Reporter) Nodes() []NodeState {
	states := make([]NodeState, len(r.links))
	for i, l := range r.links {
		states[i] = l.status.read()
	}
	return states
}

func (r *Reporter) close() {
	for _, l := range r.links {
		l.close()
	}
}
