package overwatch // inside: it uses core, newCore and process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/wire"
)

// These are the names of the histories: some in the zone of the file, and a name that creates a separate zone. One name
// is a wildcard, and another name is below an empty non-terminal.
var historyNames = []string{"a.gslb.test", "b.gslb.test", "c.w.gslb.test", "*.w.gslb.test", "e.deep.gslb.test",
	"shop.example.com"}

// asked returns a name that matches the domain.
func asked(domain string) string { return strings.Replace(domain, "*", "any", 1) }

// Each name has few backends, so that sources overlap. Two backends share an address.
var historyEndpoints = []struct {
	address string
	port    uint16
}{{"10.0.0.1", 80}, {"10.0.0.1", 81}, {"10.0.0.2", 80}, {"10.0.0.3", 80}, {"2001:db8::1", 80}}

var historyAlgorithms = []string{"weighted", "round-robin", "failover", "geolocation", "client-hash", "latency",
	"proximity"}

const (
	historyClients = 5
	historyToken   = "a token of thirty-two characters"
)

func clientAddress(client int) netip.Addr {
	return netip.AddrFrom4([4]byte{198, 51, 100, byte(1 + client)})
}

// chronicle creates random events and applies them to a node and to the reference.
type chronicle struct {
	t      *testing.T
	node   *node
	model  *reference
	random *rand.Rand
	agents []historian
	log    []string

	signed     bool
	algorithms []string                      // algorithms of this history: few, for long sequences of each
	pools      []string                      // routing_algorithm of regions
	far        map[registry.ID]time.Duration // minimum duration of a check
	chains     map[string]chainSeen
	valid      map[string]bool // verified signatures
}

type historian struct {
	name, region string
	agent        trust.Agent
}

// newChronicle opens the parts of a node that determine answers. No goroutine reads its sockets, so time is virtual.
func newChronicle(t *testing.T, seed uint64) *chronicle {
	t.Helper()
	h := &chronicle{t: t, random: rand.New(rand.NewPCG(seed, 2)), signed: seed%2 == 0, chains: map[string]chainSeen{},
		far: map[registry.ID]time.Duration{}, valid: map[string]bool{}}
	h.model = &reference{
		now: time.Now(), domains: map[string]domainFacts{}, places: map[string]regionFacts{}, mappings: map[int]string{},
		servers: map[registry.ID]declared{}, agents: map[string]*refAgent{}, backends: map[registry.ID]*refBackend{},
		ordered:  map[registry.ID]*refDrain{},
		measured: map[registry.ID]*refMeasured{},
	}
	// If several regions share, the selection by latency would depend on the order of regions.
	h.pools = []string{"round-robin", "client-hash", "weighted", "latency"}
	if h.flip() {
		h.pools = h.pools[:3]
	}
	h.algorithms = []string{[]string{"proximity", "latency", "geolocation"}[seed%3]} // the algorithms with the most inputs
	for range 2 {
		h.algorithms = append(h.algorithms, pick(h.random, historyAlgorithms))
	}
	path := filepath.Join(t.TempDir(), "overwatch.yaml")
	h.model.file = h.randomFile()
	h.locate(path)
	h.write(path)
	for i, region := range []string{"eu", "eu", "us", "ap"} {
		h.agents = append(h.agents, historian{name: fmt.Sprintf("agent%d", i), region: region})
	}
	h.start(path)
	h.model.settle()
	h.model.advance(startTime)
	return h
}

// startTime is the virtual duration of a start. The DNS part starts in the middle, so that the periodic work of DNS and
// registry alternates.
const startTime = time.Second

// start opens a node, and enrolls the agents.
func (h *chronicle) start(path string) {
	h.t.Helper()
	cfg, err := control.Load(path)
	h.must(err)
	_, level, err := logging.Adjustable(cfg.Logging, h.t.Output())
	h.must(err)
	h.node = &node{core: newCore(h.t.Context()), process: process{
		configPath: path, log: zerolog.Nop(), logging: level, started: time.Now(), boot: identity.NewNonce(),
		registerer: prometheus.NewRegistry(),
	}}
	h.must(errors.Join(h.node.openStore(cfg), h.node.openState(cfg, nil)))
	halfway := func(context.Context, *config.Config) error { time.Sleep(startTime / 2); return nil }
	for _, open := range []func(context.Context, *config.Config) error{
		h.node.openAudit, h.node.openIdentity, h.node.openTrust, h.node.openRegistry, h.node.openDNSSEC, halfway,
		h.node.openDNS, halfway, h.openChecks, h.node.openControl,
	} {
		if err := open(h.t.Context(), h.node.state.Config()); err != nil {
			h.node.close()
			h.t.Fatal(err)
		}
	}
	for i := range h.agents {
		a := &h.agents[i]
		a.agent = h.enrol(filepath.Join(filepath.Dir(path), a.name), a.name, a.region)
	}
}

// openChecks creates a stopped validator, since the history makes the checks.
func (h *chronicle) openChecks(ctx context.Context, cfg *config.Config) error {
	stopped, stop := context.WithCancel(ctx)
	stop()
	return errors.Join(h.node.openValidation(ctx, cfg), h.node.validator.Run(stopped))
}

// restart stops the node and starts it with its stored data.
func (h *chronicle) restart() string {
	h.node.close()
	synctest.Wait()
	h.model.restart()
	h.start(h.node.configPath)
	h.model.settle()
	h.model.advance(startTime)
	return "restart"
}

// enrol creates an agent with a pin for every name.
func (h *chronicle) enrol(path, name, region string) trust.Agent {
	h.t.Helper()
	who, _, err := identity.LoadOrCreate(path+".crt", path+".key", name, time.Now())
	h.must(err)
	enrol := wire.Enrol{AgentID: name, Region: region, Version: "test", Certificate: who.DER}
	for _, service := range historyNames {
		enrol.Proofs = append(enrol.Proofs, wire.Proof{Service: service,
			MAC: identity.Proof(historyToken, service, who.KeyID, h.node.boot, 1)})
	}
	payload, err := enrol.MarshalBinary()
	h.must(err)
	open := func(kind wire.Type, seq uint64, payload []byte) trust.Agent {
		m, refusal := h.node.trust.Open(who.Seal(identity.AgentToNode, identity.Envelope{
			Major: wire.Major, Type: uint8(kind), BootNonce: h.node.boot, Epoch: 1, Seq: seq, Payload: payload,
		}), netip.Addr{})
		if refusal != nil {
			h.t.Fatal(refusal)
		}
		return m.Agent
	}
	open(wire.TypeEnrol, 1, payload)
	// A heartbeat confirms the pin. Later reports do not pass through trust.
	report, err := (&wire.Heartbeat{}).MarshalBinary()
	h.must(err)
	return open(wire.TypeHeartbeat, 2, report)
}

func (h *chronicle) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%v\nhistory:\n%s", err, h)
	}
}

func (h *chronicle) String() string { return strings.Join(h.log[max(0, len(h.log)-60):], "\n") }

func (h *chronicle) flip() bool { return h.random.IntN(2) == 0 }

func (h *chronicle) id() registry.ID {
	e := pick(h.random, historyEndpoints)
	return backendID(pick(h.random, historyNames), e.address, e.port)
}

func allHistoryIDs() (ids []registry.ID) {
	for _, name := range historyNames {
		for _, e := range historyEndpoints {
			ids = append(ids, backendID(name, e.address, e.port))
		}
	}
	return ids
}

func idsOf(name string) []registry.ID {
	return slices.DeleteFunc(allHistoryIDs(), func(id registry.ID) bool { return id.Service != name })
}

// next applies a random event and returns its description.
func (h *chronicle) next() string {
	var event string
	switch n := h.random.IntN(100); {
	case len(h.log) == 0: // regions: a single region has no effect
		event = h.together(h.place, h.place, h.place)
	case len(h.log)%25 == 24:
		event = h.learning()
	case n < 22:
		event = h.heartbeat()
	case n < 28:
		event = h.transition()
	case n < 32:
		event = h.signal()
	case n < 52:
		event = h.check()
	case n < 68:
		event = h.time()
	case n < 72:
		event = h.server()
	case n < 76:
		event = h.override()
	case n < 80:
		event = h.drain()
	case n < 83:
		event = h.leave()
	case n < 94:
		event = h.define()
	case n < 95:
		h.locate(h.node.configPath)
		h.must(h.node.control.CheckDatabase(h.t.Context()))
		event = fmt.Sprintf("another database: %+v", h.model.database)
	case n < 97:
		event = h.restart()
	default:
		event = h.reload()
	}
	h.model.settle()
	h.log = append(h.log, fmt.Sprintf("%s %s", h.model.now.Format("15:04:05"), event))
	return event
}

// time advances the clock. In half of the cases it advances to the next deadline, or to the second before the deadline.
func (h *chronicle) time() string {
	d := pick(h.random, []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 10 * time.Second, 31 * time.Second,
		95 * time.Second, 6 * time.Minute})
	if due := h.model.due(); len(due) > 0 && h.flip() {
		d = max(pick(h.random, due).Sub(h.model.now)-time.Duration(h.random.IntN(2))*time.Second, time.Second)
	}
	time.Sleep(d)
	h.model.advance(d)
	return d.String() + " pass"
}

// due returns the future times at which a deadline changes the state, in ascending order.
func (m *reference) due() (all []time.Time) {
	for _, a := range m.agents {
		all = append(all, a.seen.Add(m.file.stale), a.seen.Add(m.file.remove))
		for _, c := range a.said {
			for _, w := range c.warnings {
				all = append(all, w.since.Add(w.over))
			}
		}
	}
	for id, b := range m.backends {
		all = append(all, m.verdictEnds(b), m.drained(id))
	}
	for _, o := range m.orders {
		all = append(all, o.expires)
	}
	all = slices.DeleteFunc(all, func(at time.Time) bool { return !at.After(m.now) })
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal)
}

func (h *chronicle) check() string {
	outcome := pick(h.random, []check.Outcome{check.Success, check.Success, check.Success, check.Failure, check.Failure,
		check.Unknown})
	ids := []registry.ID{h.id()}
	switch h.random.IntN(6) {
	case 0:
		ids = allHistoryIDs()
	case 1:
		ids = idsOf(pick(h.random, historyNames))
	case 2, 3:
		if measured := slices.DeleteFunc(slices.Clone(historyNames),
			func(name string) bool { return !h.model.measures(name) }); len(measured) > 0 {
			outcome, ids = check.Success, idsOf(pick(h.random, measured))
			ids = slices.Repeat(ids, 1+h.random.IntN(3))
		}
	}
	return h.measure(outcome, ids)
}

// measure applies the same check outcome to some backends, one after the other.
func (h *chronicle) measure(outcome check.Outcome, ids []registry.ID) string {
	var took []time.Duration
	for _, id := range ids {
		if h.model.backends[id] == nil {
			h.must(h.node.registry.ApplyCheckResult(h.t.Context(),
				registry.CheckResult{ID: id, Outcome: outcome, State: check.StateHealthy}))
			continue
		}
		if h.far[id] == 0 || h.random.IntN(4) == 0 {
			h.far[id] = pick(h.random, []time.Duration{100, 100, 112, 118, 150, 900}) * time.Millisecond
		}
		latency := h.far[id] + time.Duration(h.random.IntN(int(5*time.Millisecond)))
		v := registry.CheckResult{ID: id, Outcome: outcome, State: check.StateHealthy, Latency: latency}
		if outcome == check.Failure {
			v.State, v.Err = check.StateUnhealthy, "refused"
		}
		h.must(h.node.validated(h.t.Context(), v))
		h.settled() // latency decisions depend on each step, and the node may combine several steps in a decision
		took = append(took, latency)
		h.model.checked(id, outcome, latency)
		h.model.settle()
	}
	return fmt.Sprintf("%s of %v in %v", outcome, ids, took)
}

// judgeNew applies check results to new backends of the last change of declarations, as a node does immediately. Until
// then the node retains removed backends, which the reference does not contain.
func (h *chronicle) judgeNew() {
	h.model.settle()
	backends := slices.Collect(h.node.registry.View().Backends())
	slices.SortFunc(backends, func(a, b *registry.Backend) int { return a.Compare(b.ID) })
	for _, b := range backends {
		if b.Source != api.SourceStatic || b.MayServe || b.OwnCheck.State != check.StateUnknown {
			continue
		}
		v := registry.CheckResult{ID: b.ID, Outcome: check.Success, State: check.StateHealthy,
			Latency: cmp.Or(h.far[b.ID], 100*time.Millisecond)}
		if b.Port == 81 && !h.model.suspended {
			v.Outcome, v.State, v.Err = check.Failure, check.StateUnhealthy, "refused"
		}
		h.must(h.node.validated(h.t.Context(), v))
		h.settled()
		h.model.checked(b.ID, v.Outcome, v.Latency)
		h.model.settle()
	}
}

// checked applies the outcome of an own check.
func (m *reference) checked(id registry.ID, outcome check.Outcome, took time.Duration) {
	b := m.backends[id]
	if b == nil || outcome == check.Unknown {
		return
	}
	b.verdictAt, b.checkedEach, b.succeeding = m.now, m.interval(), outcome == check.Success
	b.verdict, b.setAside = "healthy", false
	if !b.succeeding {
		b.verdict, b.setAside = "unhealthy", m.suspended
		return
	}
	m.samples = append(m.samples, refSample{id, took})
}

// restart removes the data that a restart loses: check results, and agent reports until the next heartbeat. The silence
// of each agent starts at the restart. Drains and active early warnings continue.
func (m *reference) restart() {
	m.suspended, m.samples = false, nil
	for _, b := range m.backends {
		b.verdict, b.verdictAt, b.succeeding, b.setAside = "", time.Time{}, false, false
	}
	for name, a := range m.agents {
		if len(a.said) == 0 {
			delete(m.agents, name)
		}
		a.seen, a.heard = m.now, false
		for id, c := range a.said {
			next := &refClaim{said: said{id: id, word: "none", weight: c.weight}, drain: c.drain, warnings: c.warnings}
			for kind, w := range c.warnings {
				if !w.ended {
					next.warns[kind] = w.over
				}
			}
			a.said[id] = next
		}
	}
}

// settled waits until the node has published all events.
func (h *chronicle) settled() {
	synctest.Wait()
	h.must(h.node.publisher.Flush(h.t.Context()))
	synctest.Wait()
}
