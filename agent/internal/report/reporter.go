package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/wire"
)

// Reporter reports the agent's state to all overwatch nodes. Any goroutine may call its methods.
type Reporter struct {
	agent   *self
	pins    *pins
	metrics *metrics
	dial    func(*link) (peer, error)

	mu      sync.Mutex
	places  []*place        // in the order of the configuration; guarded by mu
	leaving []*place        // removed places that have not ended; guarded by mu
	running context.Context // the context of Run, nil before Run; guarded by mu
	ended   bool            // Run has ended, or New has failed; guarded by mu
	all     sync.WaitGroup  // the goroutine of each place
}

// place is a configured overwatch node and the link to it.
type place struct {
	address string
	link    *link              // guarded by Reporter.mu; replaced for a later epoch
	stop    context.CancelFunc // ends the link with a leave message; nil before Run
	ended   chan struct{}      // closed when its last link has ended
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
	dropped := func(f frame.Fault) { metrics.dropped.WithLabelValues(string(f)).Inc() }
	r := &Reporter{agent: newSelf(o), pins: pins, metrics: metrics, dial: func(l *link) (peer, error) {
		return newMemberPeer(l.address, frame.AgentName(o.Identity.KeyID, l.epoch), o.Keys, l.queueAnswer, dropped)
	}}
	if err := r.Follow(o.Nodes); err != nil {
		return nil, err
	}
	return r, nil
}

// Follow replaces the overwatch nodes of the reporter by nodes, as in Options.Nodes. It deregisters the agent from the
// removed nodes, which remove its backends from their answers. It registers the agent with the added nodes. The other
// links stay unchanged. After an error, the nodes are unchanged.
func (r *Reporter) Follow(nodes []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil
	}
	next, fresh := make([]*place, 0, len(nodes)), []*place{}
	for _, address := range nodes {
		if at := slices.IndexFunc(r.places, func(p *place) bool { return p.address == address }); at >= 0 {
			next = append(next, r.places[at])
			continue
		}
		l := newLink(r.agent, address, r.pins, r.metrics)
		l.dial = r.dial
		var err error
		if l.peer, err = r.dial(l); err != nil {
			for _, p := range fresh {
				p.link.close()
				r.metrics.vanish(p.address)
			}
			r.metrics.vanish(address)
			return fmt.Errorf("overwatch node %s: %w", address, err)
		}
		fresh = append(fresh, &place{address: address, link: l, ended: make(chan struct{})})
		next = append(next, fresh[len(fresh)-1])
	}
	for _, p := range r.places {
		if !slices.Contains(next, p) && p.stop != nil {
			p.stop()
			r.leaving = append(r.leaving, p)
		}
	}
	r.places = next
	for _, p := range fresh {
		r.start(p)
	}
	return nil
}

// start runs the link of a place if Run is active. The caller holds mu.
func (r *Reporter) start(p *place) {
	if r.running == nil {
		return
	}
	ctx, stop := context.WithCancel(r.running)
	p.stop = stop
	var former []*place // their leave messages must precede the first report of p
	for _, old := range r.leaving {
		if old.address == p.address {
			former = append(former, old)
		}
	}
	r.all.Go(func() {
		defer stop()
		for _, old := range former {
			<-old.ended
		}
		r.runLinks(ctx, p)
	})
}

// runLinks runs the links of a place, one after another, until ctx ends.
func (r *Reporter) runLinks(ctx context.Context, p *place) {
	for l := p.link; l != nil; {
		next := l.run(ctx)
		l.close()
		if next != nil {
			r.mu.Lock()
			p.link = next
			r.mu.Unlock()
		}
		l = next
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaving = slices.DeleteFunc(r.leaving, func(old *place) bool { return old == p })
	if !slices.ContainsFunc(r.places, func(other *place) bool { return other.address == p.address }) {
		r.metrics.vanish(p.address)
	}
	close(p.ended)
}

// Run exchanges messages with all nodes until ctx ends. Then it deregisters from the nodes within farewellTime. Call it
// once.
func (r *Reporter) Run(ctx context.Context) error {
	r.mu.Lock()
	r.running = ctx
	for _, p := range r.places {
		r.start(p)
	}
	r.mu.Unlock()
	<-ctx.Done()
	r.mu.Lock()
	r.ended = true // no place is added after this
	r.mu.Unlock()
	r.all.Wait()
	return nil
}

// links returns the links to the current nodes, in the order of the configuration.
func (r *Reporter) links() []*link {
	r.mu.Lock()
	defer r.mu.Unlock()
	links := make([]*link, len(r.places))
	for i, p := range r.places {
		links[i] = p.link
	}
	return links
}

// ReportChange reports a change of a backend to all nodes immediately. It does not block.
func (r *Reporter) ReportChange(b wire.Backend) {
	for _, l := range r.links() {
		l.queueChange(b)
	}
}

// ReportWarnings reports the current warnings of Options.State to all nodes immediately. It does not block.
func (r *Reporter) ReportWarnings() {
	for _, l := range r.links() {
		l.warned.Store(true)
		l.wakeUp()
	}
}

// ReportDrain reports to all nodes immediately that the backends of Options.State drain. It does not block.
func (r *Reporter) ReportDrain() {
	for _, l := range r.links() {
		l.drained.Store(true)
		l.wakeUp()
	}
}

// HandOver ends the links without deregistering: the overwatch nodes keep the last report until the next process of
// this agent reports, or until the report is stale. HandOver does not block.
func (r *Reporter) HandOver() { r.agent.handedOver.Store(true) }

// RenewBackends reports the current backends of Options.State to all nodes immediately. It proves the tokens of their
// services (see Options) if they have changed. With prove it always proves the tokens, because a node with changed
// tokens may have rejected the previous proof. RenewBackends does not block.
func (r *Reporter) RenewBackends(tokens map[string]string, prove bool) {
	tokens = maps.Clone(tokens)
	before := *r.agent.tokens.Swap(&tokens)
	prove = prove || !maps.Equal(tokens, before)
	for _, l := range r.links() {
		if prove {
			l.reprove.Store(true)
		}
		l.restate.Store(true)
		l.wakeUp()
	}
}

// Nodes returns the agent's view of the state of the nodes, in the order of the configuration.
func (r *Reporter) Nodes() []NodeState {
	links := r.links()
	states := make([]NodeState, len(links))
	for i, l := range links {
		states[i] = l.status.read()
	}
	return states
}
