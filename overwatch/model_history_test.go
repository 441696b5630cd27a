package overwatch

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/config"
	"gslb.internal/overwatch/internal/definitions"
	"gslb.internal/overwatch/internal/geo/geotest"
	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/overwatch/internal/store"
	"gslb.internal/overwatch/internal/trust"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/wire"
)

// The names that histories are about: some in the zone of the file, one that makes a zone of its own.
// One is a wildcard, and one is below a name that is only there for it.
var historyNames = []string{"a.gslb.test", "b.gslb.test", "c.w.gslb.test", "*.w.gslb.test", "e.deep.gslb.test", "shop.example.com"}

// asked is a name that the domain answers for.
func asked(domain string) string { return strings.Replace(domain, "*", "any", 1) }

// The backends of each name are few, so that sources meet. Two are on one address.
var historyEndpoints = []struct {
	address string
	port    uint16
}{{"10.0.0.1", 80}, {"10.0.0.1", 81}, {"10.0.0.2", 80}, {"10.0.0.3", 80}, {"2001:db8::1", 80}}

var historyAlgorithms = []string{"weighted", "round-robin", "failover", "geolocation", "client-hash", "latency", "proximity"}

const (
	historyClients = 5
	historyToken   = "a token of thirty-two characters"
)

func clientAddress(client int) netip.Addr {
	return netip.AddrFrom4([4]byte{198, 51, 100, byte(1 + client)})
}

// chronicle draws events and tells them to a node and to the reference.
type chronicle struct {
	t      *testing.T
	node   *node
	model  *reference
	random *rand.Rand
	agents []historian
	log    []string

	signed     bool
	algorithms []string // of this history: few, so that each gets far
	pools      []string // routing_algorithm of regions
	chains     map[string]chainSeen
	valid      map[string]bool // signatures that were verified
}

type historian struct {
	name, region string
	agent        trust.Agent
}

// newChronicle opens the parts of a node that decide what is answered. It has no sockets that anybody reads, so time is virtual.
func newChronicle(t *testing.T, seed uint64) *chronicle {
	t.Helper()
	h := &chronicle{t: t, random: rand.New(rand.NewPCG(seed, 2)), signed: seed%2 == 0, chains: map[string]chainSeen{}, valid: map[string]bool{}}
	h.model = &reference{
		now: time.Now(), domains: map[string]domainFacts{}, places: map[string]regionFacts{}, mappings: map[int]string{},
		servers: map[registry.ID]declared{}, agents: map[string]*refAgent{}, backends: map[registry.ID]*refBackend{},
		measured: map[registry.ID]*refMeasured{},
	}
	// Where several regions share, whom latency chose would depend on which of them is looked at first.
	h.pools = []string{"round-robin", "client-hash", "weighted", "latency"}
	if h.flip() {
		h.pools = h.pools[:3]
	}
	for range 3 {
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

// startTime is how long a start takes. Half way the DNS part begins, so that what it does every second lies between the registry's.
const startTime = time.Second

// start opens a node, and has the agents enrol.
func (h *chronicle) start(path string) {
	h.t.Helper()
	cfg, err := load(path)
	h.must(err)
	_, control, err := logging.Adjustable(cfg.Logging, h.t.Output())
	h.must(err)
	h.node = &node{configPath: path, log: zerolog.Nop(), logging: control, started: time.Now(), boot: identity.NewNonce(), registerer: prometheus.NewRegistry(), core: newCore(h.t.Context())}
	h.node.inForce.Store(&inForce{cfg, time.Now()})
	h.node.reloads = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "reloads"}, []string{"outcome"})
	halfway := func(context.Context, *config.Config) error { time.Sleep(startTime / 2); return nil }
	for _, open := range []func(context.Context, *config.Config) error{
		h.node.openStore, h.node.openDefinitions, h.node.openIdentity, h.node.openTrust, h.node.openRegistry, h.node.openDNSSEC, halfway, h.node.openDNS, halfway,
	} {
		if err := open(h.t.Context(), h.node.inForce.Load().config); err != nil {
			h.node.close()
			h.t.Fatal(err)
		}
	}
	for i := range h.agents {
		a := &h.agents[i]
		a.agent = h.enrol(filepath.Join(filepath.Dir(path), a.name), a.name, a.region)
	}
}

// restart stops the node and starts it with what it has stored.
func (h *chronicle) restart() string {
	h.node.close()
	synctest.Wait()
	h.model.restart()
	clear(h.chains) // nobody transfers these zones, so a serial need not be more than one of before a restart
	h.start(h.node.configPath)
	h.model.settle()
	h.model.advance(startTime)
	return "restart"
}

// enrol makes an agent that the node's own trust has authenticated for every name.
func (h *chronicle) enrol(path, name, region string) trust.Agent {
	h.t.Helper()
	who, _, err := identity.LoadOrCreate(path+".crt", path+".key", name, time.Now())
	h.must(err)
	enrol := wire.Enrol{AgentID: name, Region: region, Version: "test", Certificate: who.DER}
	for _, service := range historyNames {
		enrol.Proofs = append(enrol.Proofs, wire.Proof{Service: service, MAC: identity.Proof(historyToken, service, who.KeyID, h.node.boot, 1)})
	}
	payload, err := enrol.MarshalBinary()
	h.must(err)
	m, refusal := h.node.trust.Open(who.Seal(identity.AgentToNode, identity.Envelope{
		Major: wire.Major, Type: uint8(wire.TypeEnrol), BootNonce: h.node.boot, Epoch: 1, Seq: 1, Payload: payload,
	}))
	if refusal != nil {
		h.t.Fatal(refusal)
	}
	return m.Agent
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

// next makes one event happen, and describes it.
func (h *chronicle) next() string {
	var event string
	switch n := h.random.IntN(100); {
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
	case n < 88:
		event = h.define()
	case n < 90:
		event = h.mapping()
	case n < 92:
		event = h.place()
	case n < 94:
		event = h.setting()
	case n < 95:
		h.locate(h.node.configPath)
		h.must(h.node.lookAtDatabase(h.t.Context()))
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

func (h *chronicle) time() string {
	d := pick(h.random, []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 10 * time.Second, 31 * time.Second, 95 * time.Second, 6 * time.Minute})
	time.Sleep(d)
	h.model.advance(d)
	return d.String() + " pass"
}

// said is what an agent says of one backend.
type said struct {
	id     registry.ID
	word   string // healthy, unhealthy or none
	weight int

	draining bool
	over     time.Duration    // of the drain; 0: the node decides
	warns    [3]time.Duration // of the processor's load, memory and errors: over which time; 0: not
}

func (s said) String() string {
	text := fmt.Sprintf("%s %s %d", s.id, s.word, s.weight)
	if s.draining {
		text += fmt.Sprintf(" draining over %v", s.over)
	}
	if s.warns != [3]time.Duration{} {
		text += fmt.Sprintf(" warns %v", s.warns)
	}
	return text
}

func (s said) wire() wire.Backend {
	b := wire.Backend{Service: s.id.Service, Address: s.id.Address, Port: s.id.Port, Weight: uint16(s.weight), Check: wire.Check{Type: "tcp"},
		Draining: s.draining, DrainMillis: uint32(s.over.Milliseconds()), Warnings: wireWarnings(s.warns)}
	switch s.word {
	case "healthy":
		b.Claim, b.ConsecutiveSuccesses = wire.ClaimHealthy, 1
	case "unhealthy":
		b.Claim, b.ConsecutiveFailures, b.LastError = wire.ClaimUnhealthy, 1, "refused"
	}
	return b
}

func wireWarnings(over [3]time.Duration) wire.Warnings {
	return wire.Warnings{CPUMillis: uint32(over[0].Milliseconds()), MemoryMillis: uint32(over[1].Milliseconds()), ErrorRateMillis: uint32(over[2].Milliseconds())}
}

func (h *chronicle) says(id registry.ID) said {
	s := said{id: id, word: pick(h.random, []string{"healthy", "healthy", "healthy", "healthy", "healthy", "unhealthy", "none"}), weight: pick(h.random, []int{0, 1, 2, 3, 4})}
	if h.random.IntN(7) == 0 {
		s.draining, s.over = true, pick(h.random, historyTimes)
	}
	if h.random.IntN(4) == 0 {
		s.warns = h.warns()
	}
	return s
}

// historyTimes are of drains and warnings.
var historyTimes = []time.Duration{0, 20 * time.Second, 40 * time.Second}

func (h *chronicle) warns() (over [3]time.Duration) {
	for kind := range over {
		over[kind] = pick(h.random, historyTimes)
	}
	return over
}

func (h *chronicle) heartbeat() string {
	who := pick(h.random, h.agents)
	var list []said
	m := &wire.Heartbeat{Version: "test", IntervalMillis: 10_000, MissedThreshold: 3}
	if old := h.model.agents[who.name]; old != nil && h.flip() { // the same again
		for _, id := range slices.SortedFunc(maps.Keys(old.said), registry.ID.Compare) {
			list = append(list, old.said[id].said)
		}
	} else {
		for _, id := range allHistoryIDs() {
			if h.random.IntN(3) == 0 {
				list = append(list, h.says(id))
			}
		}
	}
	for _, s := range list {
		m.Backends = append(m.Backends, s.wire())
	}
	_, err := h.node.registry.Heartbeat(h.t.Context(), who.agent, m)
	h.must(err)
	h.model.heartbeat(who, list, h.drainTime)
	return fmt.Sprintf("%s says %v", who.name, list)
}

func (h *chronicle) transition() string {
	who, s := pick(h.random, h.agents), h.says(h.id())
	_, err := h.node.registry.Transition(h.t.Context(), who.agent, &wire.Transition{Backend: s.wire()})
	h.must(err)
	h.model.hear(who).say(h.model, who.name, s, h.drainTime)
	return fmt.Sprintf("%s says at once %s", who.name, s)
}

// signal is an agent's word about all its backends: which are warned of, or that all drain. It counts for an agent that was heard.
func (h *chronicle) signal() string {
	who := pick(h.random, h.agents)
	a := h.model.agents[who.name]
	heard := a != nil && a.heard
	if heard {
		a.seen = h.model.now
	} else {
		a = &refAgent{}
	}
	if h.flip() {
		over := pick(h.random, historyTimes)
		_, err := h.node.registry.Drain(h.t.Context(), who.agent, &wire.Drain{OverMillis: uint32(over.Milliseconds())})
		h.must(err)
		if heard {
			for _, c := range a.said {
				c.draining, c.over = true, over
				c.followDrain(h.model.now, h.drainTime)
			}
		}
		return fmt.Sprintf("%s drains all over %v", who.name, over)
	}
	var m wire.Signal
	var list []string
	for _, id := range allHistoryIDs() {
		var warns [3]time.Duration
		if h.random.IntN(3) == 0 {
			warns = h.warns()
			m.Backends = append(m.Backends, wire.Warned{Service: id.Service, Address: id.Address, Port: id.Port, Warnings: wireWarnings(warns)})
			list = append(list, fmt.Sprint(id, warns))
		}
		if c := a.said[id]; c != nil && heard {
			c.warns = warns
		}
	}
	_, err := h.node.registry.Signal(h.t.Context(), who.agent, &m)
	h.must(err)
	return fmt.Sprintf("%s warns of %v", who.name, list)
}

// drainTime is how long a drain takes where nobody says.
func (h *chronicle) drainTime(service string) time.Duration {
	if d, ok := h.model.served[service]; ok && d.ttl > 0 {
		return time.Duration(d.ttl) * time.Second
	}
	return time.Duration(h.model.defaultTTL()) * time.Second
}

func (h *chronicle) check() string {
	outcome := pick(h.random, []check.Outcome{check.Success, check.Success, check.Success, check.Failure, check.Failure, check.Unknown})
	ids := []registry.ID{h.id()}
	switch h.random.IntN(6) {
	case 0:
		ids = allHistoryIDs()
	case 1:
		ids = idsOf(pick(h.random, historyNames))
	case 2, 3:
		if measured := slices.DeleteFunc(slices.Clone(historyNames), func(name string) bool { return !h.model.measures(name) }); len(measured) > 0 {
			outcome, ids = check.Success, idsOf(pick(h.random, measured))
		}
	}
	var took []time.Duration
	for _, id := range ids {
		if h.model.backends[id] == nil {
			h.must(h.node.registry.Validated(h.t.Context(), registry.Verdict{ID: id, Outcome: outcome, State: check.StateHealthy}))
			continue
		}
		latency := pick(h.random, []time.Duration{100, 100, 112, 118, 150, 900})*time.Millisecond + time.Duration(h.random.IntN(int(5*time.Millisecond)))
		v := registry.Verdict{ID: id, Outcome: outcome, State: check.StateHealthy, Latency: latency}
		if outcome == check.Failure {
			v.State, v.Err = check.StateUnhealthy, "refused"
		}
		h.must(h.node.validated(h.t.Context(), v))
		h.settled() // whom latency holds depends on each step, and the node may decide once for several
		took = append(took, latency)
		h.model.checked(id, outcome, latency)
		h.model.settle()
	}
	return fmt.Sprintf("%s of %v in %v", outcome, ids, took)
}

// server creates, changes or removes a server of the API.
func (h *chronicle) server() string {
	id := h.id()
	made := store.Server{Service: id.Service, Address: id.Address, Port: id.Port, Weight: 1 + h.random.IntN(4), Region: pick(h.random, []string{"eu", "us"})}
	made.Check = h.node.inForce.Load().config.CheckIn(made.Region)
	_, known := h.model.backends[id]
	_, ours := h.model.servers[id]
	switch {
	case ours && h.flip():
		_, err := h.node.servers.Change(h.t.Context(), id, nil, func(s *store.Server) error { *s = made; return nil })
		h.must(err)
	case ours:
		h.must(h.node.servers.Remove(h.t.Context(), id, nil, func(store.Server) error { return nil }))
		delete(h.model.servers, id)
		return "remove " + id.String()
	case known:
		if h.node.servers.Create(h.t.Context(), made, nil) == nil {
			h.t.Errorf("%s was created beside the one that is there", id)
		}
		return "create once more " + id.String()
	default:
		h.must(h.node.servers.Create(h.t.Context(), made, nil))
	}
	h.model.servers[id] = declared{made.Weight, made.Region}
	return fmt.Sprintf("create %s with weight %d", id, made.Weight)
}

func (h *chronicle) override() string {
	id := h.id()
	if len(h.model.orders) > 0 && h.flip() { // another one about the same address
		other := pick(h.random, h.model.orders)
		id = registry.ID{Service: other.service, Address: other.address, Port: 80}
	}
	o := refOrder{service: id.Service, address: id.Address, port: id.Port, healthy: h.flip()}
	if h.random.IntN(3) == 0 {
		o.port = 0
	}
	if h.flip() {
		o.expires = h.model.now.Add(40 * time.Second)
	}
	if h.flip() {
		cleared := h.node.registry.ClearOverride(h.t.Context(), o.service, o.address, o.port) == nil
		if cleared != slices.ContainsFunc(h.model.orders, o.about) {
			h.t.Errorf("clearing the order about %s: %v", id, cleared)
		}
		h.model.orders = slices.DeleteFunc(h.model.orders, o.about)
		h.must(h.node.store.DeleteOverride(o.service, o.endpoint()))
		return fmt.Sprintf("clear the order about %s:%d of %s", o.address, o.port, o.service)
	}
	err := h.node.registry.SetOverride(h.t.Context(), registry.Override{Service: o.service, Address: o.address, Port: o.port, Healthy: o.healthy, ExpiresAt: o.expires})
	if err == nil {
		h.model.orders = append(slices.DeleteFunc(h.model.orders, o.about), o)
		stored := store.Override{Service: o.service, Address: o.endpoint(), Healthy: o.healthy}
		if !o.expires.IsZero() {
			stored.ExpiresAt = &o.expires
		}
		h.must(h.node.store.PutOverride(stored))
	}
	return fmt.Sprintf("order %s:%d of %s healthy=%v until %v: %v", o.address, o.port, o.service, o.healthy, o.expires, err)
}

func (h *chronicle) drain() string {
	id := h.id()
	b := h.model.backends[id]
	if h.random.IntN(3) == 0 {
		if err := h.node.registry.ClearDrain(h.t.Context(), id); (err == nil) != (b != nil) {
			h.t.Errorf("ending the drain of %s: %v", id, err)
		}
		if b != nil {
			b.drain = nil
		}
		return "end the drain of " + id.String()
	}
	over := pick(h.random, historyTimes)
	if _, err := h.node.registry.SetDrain(h.t.Context(), id, over); (err == nil) != (b != nil) {
		h.t.Errorf("draining %s: %v", id, err)
	}
	if b != nil {
		b.drain = newDrain(id.Service, over, h.model.now, h.drainTime)
	}
	return fmt.Sprintf("drain %s over %v", id, over)
}

func (h *chronicle) leave() string {
	who := pick(h.random, h.agents)
	delete(h.model.agents, who.name)
	if h.flip() {
		h.must(h.node.registry.Deregister(h.t.Context(), who.agent))
		return who.name + " leaves"
	}
	h.must(h.node.registry.DropAgent(h.t.Context(), who.name))
	return who.name + " is dropped"
}

// define creates, changes or deletes domains of the API, one or several together.
func (h *chronicle) define() string {
	var events []string
	changed := maps.Clone(h.model.domains)
	h.must(h.node.Define(nil, func(draft *definitions.Draft) error {
		for range 1 + h.random.IntN(3) {
			name := pick(h.random, historyNames)
			if _, there := changed[name]; there && h.random.IntN(3) > 0 {
				draft.DeleteDomain(name)
				delete(changed, name)
				events = append(events, "delete "+name)
				continue
			}
			d := h.randomDomain(name)
			d.threshold, d.maxAnswers, d.onAllDown, d.disabled = 1, 1, "", h.random.IntN(4) == 0
			d.smoothing, d.slowest, d.samples = 0.3, 500*time.Millisecond, 3
			draft.PutDomain(&store.Domain{
				Name: name, TTL: d.ttl, RoutingPolicy: d.algorithm, FallbackAlgorithm: d.fallback, MinHealthy: d.minHealthy, Regions: d.regions, Enabled: !d.disabled,
				Tolerance: &d.tolerance,
			})
			changed[name] = d
			events = append(events, fmt.Sprintf("define %+v", d))
		}
		return nil
	}))
	h.model.domains = changed
	return strings.Join(events, ", ")
}

// mapping says through the API where a client is, or takes that back.
func (h *chronicle) mapping() string {
	client := h.random.IntN(historyClients)
	network := netip.PrefixFrom(clientAddress(client), 32)
	region := pick(h.random, []string{"eu", "us", "ap", "sa"})
	h.must(h.node.Define(nil, func(draft *definitions.Draft) error {
		if h.model.mappings[client] != "" {
			draft.DeleteMapping(network)
			region = ""
		} else {
			draft.PutMapping(network, &store.Mapping{CIDR: network.String(), Region: region})
		}
		return nil
	}))
	if region == "" {
		delete(h.model.mappings, client)
	} else {
		h.model.mappings[client] = region
	}
	return fmt.Sprintf("client %d is in %q", client, region)
}

// place creates, changes or deletes a region of the API.
func (h *chronicle) place() string {
	name := pick(h.random, []string{"us", "ap", "sa", "af"})
	if _, there := h.model.places[name]; there && h.flip() {
		h.must(h.node.Define(nil, func(draft *definitions.Draft) error { draft.DeleteRegion(name); return nil }))
		delete(h.model.places, name)
		return "delete the region " + name
	}
	r := h.randomRegion(name)
	r.priority, r.disabled = h.random.IntN(3), h.random.IntN(4) == 0
	made := &store.Region{Name: name, Continent: r.continent, Countries: r.countries, Enabled: !r.disabled, Priority: r.priority, Pool: r.pool, Bias: r.bias}
	if r.at != nil {
		made.Latitude, made.Longitude = &r.at.latitude, &r.at.longitude
	}
	h.must(h.node.Define(nil, func(draft *definitions.Draft) error { draft.PutRegion(made); return nil }))
	h.model.places[name] = r
	return fmt.Sprintf("define the region %+v", r)
}

// setting changes settings of the API, each of which lies over the file's where it differs from that.
func (h *chronicle) setting() string {
	m := h.model
	ttl, last, interval := m.defaultTTL(), m.lastHealthyDefault(), m.interval()
	section := pick(h.random, []string{definitions.DNS, definitions.HealthCheck})
	if section == definitions.DNS {
		ttl, last = pick(h.random, []int{20, 30}), h.flip()
	} else {
		interval = pick(h.random, []time.Duration{10 * time.Second, 30 * time.Second})
	}
	h.must(h.node.Define(nil, func(draft *definitions.Draft) error {
		wanted := definitions.View(section, draft.File())
		switch w := wanted.(type) {
		case *api.DNSConfig:
			w.DefaultTTL, w.ReturnLastHealthy = ttl, last
		case *api.HealthCheckConfig:
			w.DefaultIntervalSeconds = interval.Seconds()
		}
		return draft.Lay(section, wanted)
	}))
	if section == definitions.DNS {
		m.over.ttl, m.over.returnLastHealthy = unlike(ttl, m.file.ttl), unlike(last, m.file.returnLastHealthy)
	} else {
		m.over.interval = unlike(interval, m.file.interval)
	}
	return fmt.Sprintf("settings: default TTL %d, last healthy %v, checks every %v", ttl, last, interval)
}

func unlike[T comparable](wanted, file T) *T {
	if wanted == file {
		return nil
	}
	return &wanted
}

// locate writes another database of where clients are. Of the last, it says nothing.
func (h *chronicle) locate(configPath string) {
	var networks []geotest.Network
	for client := range historyClients - 1 {
		p := placeFacts{country: pick(h.random, historyCountries), continent: pick(h.random, historyContinents)}
		record := geotest.Located(p.country, p.continent, 0, 0)
		if delete(record, "location"); h.random.IntN(3) > 0 {
			p.at = &refPlace{float64(h.random.IntN(600))/4 - 75, float64(h.random.IntN(1400))/4 - 175}
			record["location"] = map[string]any{"latitude": p.at.latitude, "longitude": p.at.longitude}
		}
		h.model.database[client] = p
		networks = append(networks, geotest.Network{CIDR: netip.PrefixFrom(clientAddress(client), 32), Record: record})
	}
	path := databaseFile(configPath)
	h.must(os.WriteFile(path+".new", geotest.Database(networks), 0o600))
	h.must(os.Rename(path+".new", path))
}

var (
	historyCountries  = []string{"DE", "US", "SG", "BR", "CH"}
	historyContinents = []string{"EU", "NA", "AS", "SA"}
)

func databaseFile(configPath string) string {
	return filepath.Join(filepath.Dir(configPath), "places.mmdb")
}

func (h *chronicle) reload() string {
	before := h.model.file
	h.model.file = h.randomFile()
	h.write(h.node.configPath)
	_, _, err := h.node.Reload(h.t.Context())
	h.must(err)
	// The times come into force before the servers do.
	next := h.model.file
	h.model.file = before
	h.model.file.stale, h.model.file.remove, h.model.file.interval = next.stale, next.remove, next.interval
	h.model.settle()
	h.model.file = next
	return fmt.Sprintf("reload %+v", h.model.file)
}

func (h *chronicle) randomRegion(name string) regionFacts {
	r := regionFacts{name: name}
	if h.random.IntN(3) > 0 {
		r.at = map[string]*refPlace{"eu": {50, 10}, "us": {38, -77}, "ap": {1, 103}, "sa": {-23, -46}, "af": {-1, 36}}[name]
	}
	for _, country := range historyCountries {
		if h.random.IntN(4) == 0 {
			r.countries = append(r.countries, country)
		}
	}
	if h.flip() {
		r.continent = pick(h.random, historyContinents)
	}
	if h.flip() {
		r.bias = pick(h.random, []int{-60, 40, 90})
	}
	if h.random.IntN(4) == 0 {
		r.pool = pick(h.random, h.pools)
	}
	return r
}

func (h *chronicle) randomFile() fileFacts {
	f := fileFacts{mappings: map[int]string{}, returnLastHealthy: h.flip(), ttl: pick(h.random, []int{20, 30}), hashed: h.random.IntN(3) == 0,
		stale: pick(h.random, []time.Duration{20 * time.Second, 30 * time.Second}), remove: pick(h.random, []time.Duration{time.Minute, 5 * time.Minute}),
		interval: pick(h.random, []time.Duration{10 * time.Second, 30 * time.Second})}
	for _, name := range []string{"eu", "us", "ap", "sa"} {
		if name == "sa" && h.flip() {
			continue
		}
		f.regions = append(f.regions, h.randomRegion(name))
	}
	h.model.file = f // what domains may list
	h.model.join()
	for _, name := range historyNames {
		if h.random.IntN(3) > 0 {
			d := h.randomDomain(name)
			d.regions = slices.DeleteFunc(d.regions, func(r string) bool {
				return first(f.regions, func(known regionFacts) bool { return known.name == r }) == nil
			})
			f.domains = append(f.domains, d)
		}
	}
	for i := range f.regions {
		r := &f.regions[i]
		taken := map[string]bool{}
		for range h.random.IntN(4) {
			e := pick(h.random, historyEndpoints)
			s := serverFacts{address: e.address, port: e.port, weight: 1 + h.random.IntN(4)}
			if len(f.domains) > 0 && h.random.IntN(4) > 0 {
				s.service = pick(h.random, f.domains).name
			}
			// A backend may be declared once in all regions.
			endpoint := fmt.Sprintf("%s %s %d", s.service, s.address, s.port)
			if s.service == "" || !taken[endpoint] {
				taken[endpoint] = true
				r.servers = append(r.servers, s)
			}
		}
	}
	onlyOnce(f.regions)
	for client := range historyClients {
		if h.random.IntN(4) == 0 {
			f.mappings[client] = pick(h.random, f.regions).name
		}
	}
	if h.flip() {
		f.defaultRegion = pick(h.random, f.regions).name
	}
	return f
}

// onlyOnce keeps the first server of each endpoint, whatever its service, so that none is declared twice.
func onlyOnce(regions []regionFacts) {
	seen := map[string]bool{}
	for i := range regions {
		regions[i].servers = slices.DeleteFunc(regions[i].servers, func(s serverFacts) bool {
			endpoint := fmt.Sprintf("%s %s %d", s.service, s.address, s.port)
			again := seen[endpoint]
			seen[endpoint] = true
			return again
		})
	}
}

func (h *chronicle) randomDomain(name string) domainFacts {
	d := domainFacts{
		name: name, algorithm: pick(h.random, h.algorithms), ttl: pick(h.random, []int{0, 10, 25, 40}), threshold: 1 + h.random.IntN(2),
		maxAnswers: 1 + h.random.IntN(3), onAllDown: pick(h.random, []string{"", "servfail", "last_healthy", "all"}), minHealthy: pick(h.random, []string{"", "", "", "2", "50%"}),
		tolerance: pick(h.random, []float64{0, 3000, 20000}), smoothing: pick(h.random, []float64{0.3, 1}), slowest: pick(h.random, []time.Duration{500, 110}) * time.Millisecond,
		samples: 1 + h.random.IntN(3),
	}
	if len(h.pools) > 3 { // see newChronicle
		d.tolerance = 0
	}
	if slices.Contains([]string{"geolocation", "latency", "proximity"}, d.algorithm) && h.flip() {
		d.fallback = pick(h.random, slices.DeleteFunc(slices.Clone(historyAlgorithms), func(a string) bool { return a == d.algorithm }))
	}
	for _, r := range h.model.regions {
		if h.random.IntN(3) > 0 {
			d.regions = append(d.regions, r.name)
		}
	}
	h.random.Shuffle(len(d.regions), func(a, b int) { d.regions[a], d.regions[b] = d.regions[b], d.regions[a] })
	return d
}

// write writes the configuration file.
func (h *chronicle) write(path string) {
	f := &h.model.file
	var b strings.Builder
	fmt.Fprintf(&b, "mode: overwatch\ndata_dir: %q\n", filepath.Join(filepath.Dir(path), "data"))
	fmt.Fprintf(&b, "overwatch:\n  identity: {node_id: ns1, region: eu}\n  gossip: {bind_address: \"127.0.0.1:0\", encryption_key: %q}\n", base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if denial := map[bool]string{false: "nsec", true: "nsec3"}[f.hashed]; h.signed {
		fmt.Fprintf(&b, "  dnssec: {enabled: true, denial: %s}\n", denial)
	} else {
		b.WriteString("  dnssec: {enabled: false, security_acknowledgment: \"I understand that DNSSEC is disabled and responses can be spoofed\"}\n")
	}
	b.WriteString("  agent_tokens:\n")
	for _, name := range historyNames {
		fmt.Fprintf(&b, "    %q: %q\n", name, historyToken)
	}
	fmt.Fprintf(&b, "  validation: {enabled: true, check_interval: %s}\n  stale: {threshold: %s, remove_after: %s}\n", f.interval, f.stale, f.remove)
	fmt.Fprintf(&b, "  geolocation:\n    database_path: %q\n    default_region: %q\n    custom_mappings: [", databaseFile(path), f.defaultRegion)
	for _, client := range slices.Sorted(maps.Keys(f.mappings)) {
		fmt.Fprintf(&b, "{cidr: %s/32, region: %s},", clientAddress(client), f.mappings[client])
	}
	fmt.Fprintf(&b, "]\ndns: {listen_address: \"127.0.0.1:0\", default_ttl: %d, return_last_healthy: %v, zones: [gslb.test]}\nmetrics: {enabled: false}\napi: {enabled: false}\nregions:\n", f.ttl, f.returnLastHealthy)
	for _, r := range f.regions {
		fmt.Fprintf(&b, "  - name: %s\n", r.name)
		fmt.Fprintf(&b, "    countries: [%s]\n    proximity_bias: %d\n", strings.Join(r.countries, ", "), r.bias)
		if r.at != nil {
			fmt.Fprintf(&b, "    latitude: %v\n    longitude: %v\n", r.at.latitude, r.at.longitude)
		}
		if r.continent != "" {
			fmt.Fprintf(&b, "    continents: [%s]\n", r.continent)
		}
		if r.pool != "" {
			fmt.Fprintf(&b, "    routing_algorithm: %s\n", r.pool)
		}
		b.WriteString("    servers: [")
		for _, s := range r.servers {
			fmt.Fprintf(&b, "{address: %q, port: %d, weight: %d", s.address, s.port, s.weight)
			if s.service != "" {
				fmt.Fprintf(&b, ", service: %q", s.service)
			}
			b.WriteString("}, ")
		}
		b.WriteString("]\n")
	}
	b.WriteString("domains: [\n")
	for _, d := range f.domains {
		fmt.Fprintf(&b, "  {name: %q, routing_algorithm: %s, regions: [%s], ttl: %d, failover_threshold: %d, max_answers: %d, proximity: {tolerance_km: %v}, latency_config: {smoothing_factor: %v, max_latency_ms: %d, min_samples: %d}",
			d.name, d.algorithm, strings.Join(d.regions, ", "), d.ttl, d.threshold, d.maxAnswers, d.tolerance, d.smoothing, d.slowest.Milliseconds(), d.samples)
		for key, value := range map[string]string{"on_all_down": d.onAllDown, "min_healthy": d.minHealthy, "fallback_algorithm": d.fallback} {
			if value != "" {
				fmt.Fprintf(&b, ", %s: %q", key, value)
			}
		}
		b.WriteString("},\n")
	}
	b.WriteString("]\n")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// hear notes that an agent is alive.
func (m *reference) hear(who historian) *refAgent {
	a := m.agents[who.name]
	if a == nil {
		a = &refAgent{said: map[registry.ID]*refClaim{}}
		m.agents[who.name] = a
	}
	a.region, a.seen, a.heard = who.region, m.now, true
	return a
}

// heartbeat takes all that an agent says; what it no longer claims is withdrawn, but nobody else could take it meanwhile.
func (m *reference) heartbeat(who historian, list []said, drainTime func(string) time.Duration) {
	a := m.hear(who)
	kept := map[registry.ID]bool{}
	for _, s := range list {
		if a.say(m, who.name, s, drainTime) {
			kept[s.id] = true
		}
	}
	maps.DeleteFunc(a.said, func(id registry.ID, _ *refClaim) bool { return !kept[id] })
}

// say makes a claim, unless another agent makes one that is not gone.
func (a *refAgent) say(m *reference, name string, s said, drainTime func(string) time.Duration) bool {
	if other := m.claimant(s.id); other != "" && other != name {
		if m.silence(other) < m.file.remove {
			return false
		}
		delete(m.agents[other].said, s.id)
	}
	if a.said[s.id] == nil {
		a.said[s.id] = &refClaim{}
	}
	a.said[s.id].said = s
	a.said[s.id].followDrain(m.now, drainTime)
	return true
}

// followDrain begins or ends the drain that the agent asks for; one that has begun keeps its time.
func (c *refClaim) followDrain(now time.Time, drainTime func(string) time.Duration) {
	switch {
	case !c.draining:
		c.drain = nil
	case c.drain == nil:
		c.drain = newDrain(c.id.Service, c.over, now, drainTime)
	}
}

// newDrain begins now and takes the domain's TTL where nobody says otherwise.
func newDrain(service string, over time.Duration, now time.Time, drainTime func(string) time.Duration) *refDrain {
	if over == 0 {
		over = drainTime(service)
	}
	return &refDrain{now, over}
}

// checked takes the outcome of one of the node's own checks.
func (m *reference) checked(id registry.ID, outcome check.Outcome, took time.Duration) {
	b := m.backends[id]
	if b == nil || outcome == check.Unknown {
		return
	}
	b.verdictAt, b.succeeding = m.now, outcome == check.Success
	b.verdict, b.setAside = "healthy", false
	if !b.succeeding {
		b.verdict, b.setAside = "unhealthy", m.suspended
		return
	}
	m.samples = append(m.samples, refSample{id, took})
}

// restart forgets what a restart does (design.md section 4, "Restart"): what checks found, and what agents think of what they
// claim and warn of, until they are heard; the silence of each begins anew. Drains go on.
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
			a.said[id] = &refClaim{said: said{id: id, word: "none", weight: c.weight}, drain: c.drain}
		}
	}
}

// settled returns when the node has published all that happened.
func (h *chronicle) settled() {
	synctest.Wait()
	h.must(h.node.publisher.Flush(h.t.Context()))
	synctest.Wait()
}
