package gossip // inside: it uses dropReasons

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// memoryPins is a trust.PinStore.
type memoryPins struct {
	mu   sync.Mutex
	pins map[string]store.Pin
}

func (m *memoryPins) LoadPins() (out []store.Pin, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pins {
		out = append(out, p)
	}
	return out, nil
}

func (m *memoryPins) PutPin(p store.Pin, _ ...store.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pins == nil {
		m.pins = make(map[string]store.Pin)
	}
	m.pins[p.AgentID] = p
	return nil
}

func (m *memoryPins) ChangePins(store.PinChange, ...store.Entry) error { return nil }
func (m *memoryPins) LoadLocks() ([]store.TokenLock, error)            { return nil, nil }
func (m *memoryPins) LoadPin(string) (store.Pin, bool, error)          { return store.Pin{}, false, nil }

func (m *memoryPins) DeletePin(id string, _ ...store.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pins, id)
	return nil
}

// call is one call of a method of testRegistry, with the agent and the message.
type call struct {
	agent     string
	heartbeat *wire.Heartbeat
	backend   *wire.Backend // of a transition
	signal    *wire.Signal
	drain     *wire.Drain
	at        time.Time
}

// testRegistry records its calls.
type testRegistry struct {
	calls   chan call
	outcome registry.Outcome
}

func newTestRegistry() *testRegistry { return &testRegistry{calls: make(chan call, 1<<16)} }

func (r *testRegistry) ApplyHeartbeat(_ context.Context, a trust.Agent, m *wire.Heartbeat) (registry.Outcome, error) {
	told := *m // the caller reuses its backends
	told.Backends = slices.Clone(m.Backends)
	r.calls <- call{agent: a.ID(), heartbeat: &told, at: time.Now()}
	return r.outcome, nil
}

func (r *testRegistry) ApplyTransition(_ context.Context, a trust.Agent, m *wire.Transition) (registry.Outcome, error) {
	r.calls <- call{agent: a.ID(), backend: &m.Backend, at: time.Now()}
	return r.outcome, nil
}

func (r *testRegistry) ApplyWarnings(_ context.Context, a trust.Agent, m *wire.Signal) (registry.Outcome, error) {
	r.calls <- call{agent: a.ID(), signal: m, at: time.Now()}
	return r.outcome, nil
}

func (r *testRegistry) ApplyDrain(_ context.Context, a trust.Agent, m *wire.Drain) (registry.Outcome, error) {
	r.calls <- call{agent: a.ID(), drain: m, at: time.Now()}
	return r.outcome, nil
}

func (r *testRegistry) ApplyGoodbye(_ context.Context, a trust.Agent) error {
	r.calls <- call{agent: a.ID(), at: time.Now()}
	return nil
}

// next waits for the next call.
func (r *testRegistry) next(t testing.TB) call {
	t.Helper()
	select {
	case c := <-r.calls:
		return c
	case <-time.After(patience):
		t.Fatal("the registry was not told")
		panic("unreachable")
	}
}

// testNode is a running node with a real Trust and a registry that only records calls.
type testNode struct {
	*Node
	registry *testRegistry
	trust    *trust.Trust
	metrics  *prometheus.Registry
	stop     func()
}

func testOptions(t testing.TB) Options {
	boot, id, half := identity.NewNonce(), testIdentity(t, "ow-1"), identity.NewExchange()
	tr, err := trust.New(trust.Options{
		Tokens: map[string][]string{testService: {testToken}}, Boot: boot, Node: id.KeyID, Exchange: half,
		Pins: &memoryPins{}, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Bind: "127.0.0.1:0", Keys: [][]byte{gossipKey}, NodeID: "ow-1", Region: "eu", Version: "1", Identity: id,
		Boot: boot, Share: half.Share(), Trust: tr, Registry: newTestRegistry(), Registerer: prometheus.NewRegistry(),
		Logger: zerolog.Nop(),
	}
}

// startNode runs a node until the test ends or stop is called.
func startNode(t testing.TB, edit func(*Options)) *testNode {
	t.Helper()
	o := testOptions(t)
	if edit != nil {
		edit(&o)
	}
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the node did not stop")
		}
	})
	t.Cleanup(stop)
	tr, _ := o.Trust.(*trust.Trust)
	return &testNode{Node: n, registry: o.Registry.(*testRegistry), trust: tr,
		metrics: o.Registerer.(*prometheus.Registry), stop: stop}
}

// metric returns a counter or gauge by its name and the value of its only label, or "" for a metric without labels.
func (n *testNode) metric(t testing.TB, name, label string) float64 {
	t.Helper()
	families, err := n.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			if label == "" && len(m.GetLabel()) == 0 || len(m.GetLabel()) == 1 && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s %q", name, label)
	return 0
}

// dropped returns the number of packets that the transport dropped, for all reasons.
func (n *testNode) dropped(t testing.TB) (sum float64) {
	t.Helper()
	for _, reason := range dropReasons {
		sum += n.metric(t, "gslb_gossip_dropped_total", string(reason))
	}
	return sum
}

// eventually polls until the condition holds, because real sockets delay the effect.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		<-tick.C
	}
}
