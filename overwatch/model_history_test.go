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
	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/overwatch/internal/store"
	"gslb.internal/overwatch/internal/trust"
	"gslb.internal/shared/check"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/wire"
)

// The names that histories are about: some in the zone of the file, one that makes a zone of its own.
var historyNames = []string{"a.gslb.test", "b.gslb.test", "c.gslb.test", "d.gslb.test", "e.gslb.test", "shop.example.com"}

// The backends of each name are few, so that sources meet. Two are on one address.
var historyEndpoints = []struct {
	address string
	port    uint16
}{{"10.0.0.1", 80}, {"10.0.0.1", 81}, {"10.0.0.2", 80}, {"10.0.0.3", 80}, {"2001:db8::1", 80}}

var historyAlgorithms = []string{"weighted", "round-robin", "failover", "geolocation", "client-hash"}

const (
	historyClients = 4
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
}

type historian struct {
	name, region string
	agent        trust.Agent
}

// newChronicle opens the parts of a node that decide what is answered. It has no sockets that anybody reads, so time is virtual.
func newChronicle(t *testing.T, seed uint64) *chronicle {
	t.Helper()
	h := &chronicle{t: t, random: rand.New(rand.NewPCG(seed, 2))}
	h.model = &reference{
		now: time.Now(), domains: map[string]domainFacts{}, mappings: map[int]string{}, servers: map[registry.ID]declared{},
		agents: map[string]*refAgent{}, backends: map[registry.ID]*refBackend{},
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "overwatch.yaml")
	h.model.file = h.randomFile()
	h.write(path)
	cfg, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	_, control, err := logging.Adjustable(cfg.Logging, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	h.node = &node{configPath: path, log: zerolog.Nop(), logging: control, started: time.Now(), boot: identity.NewNonce(), registerer: prometheus.NewRegistry(), core: newCore(t.Context())}
	h.node.inForce.Store(&inForce{cfg, time.Now()})
	h.node.reloads = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "reloads"}, []string{"outcome"})
	for _, open := range []func(context.Context, *config.Config) error{
		h.node.openStore, h.node.openDefinitions, h.node.openIdentity, h.node.openTrust, h.node.openRegistry, h.node.openDNS,
	} {
		if err := open(t.Context(), h.node.inForce.Load().config); err != nil {
			h.node.close()
			t.Fatal(err)
		}
	}
	for i, region := range []string{"eu", "eu", "us", "ap"} {
		name := fmt.Sprintf("agent%d", i)
		h.agents = append(h.agents, historian{name, region, h.enrol(filepath.Join(dir, name), name, region)})
	}
	h.model.settle()
	return h
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

// next makes one event happen, and describes it.
func (h *chronicle) next() string {
	var event string
	switch n := h.random.IntN(100); {
	case n < 28:
		event = h.heartbeat()
	case n < 36:
		event = h.transition()
	case n < 58:
		event = h.check()
	case n < 74:
		event = h.time()
	case n < 78:
		event = h.server()
	case n < 83:
		event = h.override()
	case n < 87:
		event = h.drain()
	case n < 90:
		event = h.leave()
	case n < 95:
		event = h.define()
	case n < 97:
		event = h.mapping()
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
	word   string // healthy, unhealthy, none or draining
	weight int
}

func (s said) String() string { return fmt.Sprintf("%s %s %d", s.id, s.word, s.weight) }

func (s said) wire() wire.Backend {
	b := wire.Backend{Service: s.id.Service, Address: s.id.Address, Port: s.id.Port, Weight: uint16(s.weight), Check: wire.Check{Type: "tcp"}}
	switch s.word {
	case "healthy":
		b.Claim, b.ConsecutiveSuccesses = wire.ClaimHealthy, 1
	case "unhealthy":
		b.Claim, b.ConsecutiveFailures, b.LastError = wire.ClaimUnhealthy, 1, "refused"
	case "draining":
		b.Claim, b.Draining = wire.ClaimHealthy, true
	}
	return b
}

func (h *chronicle) says(id registry.ID) said {
	return said{id, pick(h.random, []string{"healthy", "healthy", "healthy", "healthy", "unhealthy", "none", "draining"}), 1 + h.random.IntN(4)}
}

func (h *chronicle) heartbeat() string {
	who := pick(h.random, h.agents)
	var list []said
	m := &wire.Heartbeat{Version: "test", IntervalMillis: 10_000, MissedThreshold: 3}
	if old := h.model.agents[who.name]; old != nil && h.flip() { // the same again
		for _, id := range slices.SortedFunc(maps.Keys(old.said), registry.ID.Compare) {
			c := old.said[id]
			s := said{id, c.word, c.weight}
			if c.drain != nil {
				s.word = "draining"
			}
			list = append(list, s)
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

// drainTime is how long a drain takes where nobody says.
func (h *chronicle) drainTime(service string) time.Duration {
	if d, ok := h.model.joined()[service]; ok && d.ttl > 0 {
		return time.Duration(d.ttl) * time.Second
	}
	return refTTL * time.Second
}

func (h *chronicle) check() string {
	outcome := pick(h.random, []check.Outcome{check.Success, check.Success, check.Failure, check.Failure, check.Unknown})
	ids := []registry.ID{h.id()}
	switch h.random.IntN(6) {
	case 0:
		ids = allHistoryIDs()
	case 1:
		name := pick(h.random, historyNames)
		ids = slices.DeleteFunc(allHistoryIDs(), func(id registry.ID) bool { return id.Service != name })
	}
	for _, id := range ids {
		v := registry.Verdict{ID: id, Outcome: outcome, State: check.StateHealthy, Latency: time.Millisecond}
		if outcome == check.Failure {
			v.State, v.Err = check.StateUnhealthy, "refused"
		}
		h.must(h.node.validated(h.t.Context(), v))
		h.model.checked(id, outcome)
		h.model.settle()
	}
	return fmt.Sprintf("%s of %v", outcome, ids)
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
		return fmt.Sprintf("clear the order about %s:%d of %s", o.address, o.port, o.service)
	}
	err := h.node.registry.SetOverride(h.t.Context(), registry.Override{Service: o.service, Address: o.address, Port: o.port, Healthy: o.healthy, ExpiresAt: o.expires})
	if err == nil {
		h.model.orders = append(slices.DeleteFunc(h.model.orders, o.about), o)
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
	if _, err := h.node.registry.SetDrain(h.t.Context(), id, 40*time.Second); (err == nil) != (b != nil) {
		h.t.Errorf("draining %s: %v", id, err)
	}
	if b != nil {
		b.drain = &refDrain{h.model.now, 40 * time.Second}
	}
	return "drain " + id.String()
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
			draft.PutDomain(&store.Domain{
				Name: name, TTL: d.ttl, RoutingPolicy: d.algorithm, FallbackAlgorithm: d.fallback, MinHealthy: d.minHealthy, Regions: d.regions, Enabled: !d.disabled,
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

func (h *chronicle) reload() string {
	h.model.file = h.randomFile()
	h.write(h.node.configPath)
	_, _, err := h.node.Reload(h.t.Context())
	h.must(err)
	return fmt.Sprintf("reload %+v", h.model.file)
}

func (h *chronicle) randomFile() fileFacts {
	f := fileFacts{mappings: map[int]string{}, returnLastHealthy: h.flip()}
	for i, name := range []string{"eu", "us", "ap", "sa"} {
		if name == "sa" && h.flip() {
			continue
		}
		r := regionFacts{name: name}
		if h.random.IntN(3) > 0 {
			r.placed, r.latitude, r.longitude = true, []float64{50, 38, 1, -23}[i], []float64{10, -77, 103, -46}[i]
		}
		if h.random.IntN(4) == 0 {
			r.pool = pick(h.random, []string{"round-robin", "client-hash", "weighted"})
		}
		f.regions = append(f.regions, r)
	}
	h.model.file = f // what domains may list
	for _, name := range historyNames {
		if h.random.IntN(3) > 0 {
			f.domains = append(f.domains, h.randomDomain(name))
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
		name: name, algorithm: pick(h.random, historyAlgorithms), ttl: pick(h.random, []int{0, 10, 25, 40}), threshold: 1 + h.random.IntN(2),
		maxAnswers: 1 + h.random.IntN(3), onAllDown: pick(h.random, []string{"", "servfail", "last_healthy", "all"}), minHealthy: pick(h.random, []string{"", "", "2", "50%"}),
	}
	if d.algorithm == "geolocation" && h.flip() {
		d.fallback = pick(h.random, []string{"weighted", "round-robin", "failover", "client-hash"})
	}
	for _, r := range h.model.file.regions {
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
	b.WriteString("  dnssec: {enabled: false, security_acknowledgment: \"I understand that DNSSEC is disabled and responses can be spoofed\"}\n  agent_tokens:\n")
	for _, name := range historyNames {
		fmt.Fprintf(&b, "    %s: %q\n", name, historyToken)
	}
	fmt.Fprintf(&b, "  validation: {enabled: true, check_interval: %s}\n  stale: {threshold: %s, remove_after: %s}\n", refInterval, refStale, refRemove)
	fmt.Fprintf(&b, "  geolocation:\n    default_region: %q\n    custom_mappings: [", f.defaultRegion)
	for _, client := range slices.Sorted(maps.Keys(f.mappings)) {
		fmt.Fprintf(&b, "{cidr: %s/32, region: %s},", clientAddress(client), f.mappings[client])
	}
	fmt.Fprintf(&b, "]\ndns: {listen_address: \"127.0.0.1:0\", default_ttl: %d, return_last_healthy: %v, zones: [gslb.test]}\nmetrics: {enabled: false}\napi: {enabled: false}\nregions:\n", refTTL, f.returnLastHealthy)
	for _, r := range f.regions {
		fmt.Fprintf(&b, "  - name: %s\n", r.name)
		if r.placed {
			fmt.Fprintf(&b, "    latitude: %v\n    longitude: %v\n", r.latitude, r.longitude)
		}
		if r.pool != "" {
			fmt.Fprintf(&b, "    routing_algorithm: %s\n", r.pool)
		}
		b.WriteString("    servers: [")
		for _, s := range r.servers {
			fmt.Fprintf(&b, "{address: %q, port: %d, weight: %d", s.address, s.port, s.weight)
			if s.service != "" {
				fmt.Fprintf(&b, ", service: %s", s.service)
			}
			b.WriteString("}, ")
		}
		b.WriteString("]\n")
	}
	b.WriteString("domains: [\n")
	for _, d := range f.domains {
		fmt.Fprintf(&b, "  {name: %s, routing_algorithm: %s, regions: [%s], ttl: %d, failover_threshold: %d, max_answers: %d", d.name, d.algorithm, strings.Join(d.regions, ", "), d.ttl, d.threshold, d.maxAnswers)
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
		a = &refAgent{said: map[registry.ID]refClaim{}}
		m.agents[who.name] = a
	}
	a.region, a.seen = who.region, m.now
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
	maps.DeleteFunc(a.said, func(id registry.ID, _ refClaim) bool { return !kept[id] })
}

// say makes a claim, unless another agent makes one that is not gone.
func (a *refAgent) say(m *reference, name string, s said, drainTime func(string) time.Duration) bool {
	if other := m.claimant(s.id); other != "" && other != name {
		if m.silence(other) < refRemove {
			return false
		}
		delete(m.agents[other].said, s.id)
	}
	c := refClaim{word: s.word, weight: s.weight}
	if s.word == "draining" {
		c.word, c.drain = "healthy", a.said[s.id].drain
		if c.drain == nil {
			c.drain = &refDrain{m.now, drainTime(s.id.Service)}
		}
	}
	a.said[s.id] = c
	return true
}

// checked takes the outcome of one of the node's own checks.
func (m *reference) checked(id registry.ID, outcome check.Outcome) {
	b := m.backends[id]
	if b == nil || outcome == check.Unknown {
		return
	}
	b.verdictAt, b.succeeding = m.now, outcome == check.Success
	b.verdict, b.setAside = "healthy", false
	if !b.succeeding {
		b.verdict, b.setAside = "unhealthy", m.suspended
	}
}

// settled returns when the node has published all that happened.
func (h *chronicle) settled() {
	synctest.Wait()
	h.must(h.node.publisher.Flush(h.t.Context()))
	synctest.Wait()
}
