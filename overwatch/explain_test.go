package overwatch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/config"
	"gslb.internal/overwatch/internal/decisions"
	"gslb.internal/overwatch/internal/dnsserver"
	"gslb.internal/overwatch/internal/explain"
	"gslb.internal/overwatch/internal/geo"
	"gslb.internal/overwatch/internal/geo/geotest"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/publish"
	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/overwatch/internal/zone"
	"gslb.internal/shared/api"
)

// How much the property test tries, and from where it begins. A failure names its seed.
const (
	environmentQueries = "GSLB_EXPLAIN_QUERIES" // a million takes a few minutes
	environmentSeed    = "GSLB_EXPLAIN_SEED"

	fewQueries      = 30_000
	queriesPerWorld = 3_000
	queriesPerState = 100
)

// For random worlds, states and queries, what is explained is what comes over the wire: the same outcome, TTL and scope,
// addresses that the explanation gives a share, and as often as that share says.
func TestExplain_TheExplanationIsTheWire(t *testing.T) {
	queries, seed := number(t, environmentQueries, fewQueries), uint64(number(t, environmentSeed, rand.IntN(1<<30)))
	seen := map[string]int{}
	for done := 0; done < queries; done += queriesPerWorld {
		play(t, seed, min(queries-done, queriesPerWorld), seen)
		seed++
	}
	if queries < fewQueries {
		return
	}
	for _, outcome := range api.RoutingDecisionKinds() {
		if seen[string(outcome)] == 0 {
			t.Errorf("no answer came about as %s", outcome)
		}
	}
	for _, algorithm := range policy.Algorithms() {
		if seen["success by "+string(algorithm)] == 0 {
			t.Errorf("nothing was answered by %s", algorithm)
		}
	}
}

// What happens in a world follows from its seed, to the octet, so that a failure can be had again.
func TestExplain_ASeedRepeatsWhatHappens(t *testing.T) {
	seed := uint64(number(t, environmentSeed, rand.IntN(1<<30)))
	if first, again := play(t, seed, 10*queriesPerState, map[string]int{}), play(t, seed, 10*queriesPerState, map[string]int{}); first != again {
		t.Errorf("seed %d was answered in two ways", seed)
	}
}

// play asks about so many queries in one world and returns the hash of all answers.
func play(t *testing.T, seed uint64, queries int, seen map[string]int) (answers [sha256.Size]byte) {
	t.Helper()
	w := newRandomWorld(t, seed, seen)
	defer w.close()
	for range queries / queriesPerState {
		w.change()
		for range queriesPerState / 2 {
			w.ask(w.randomQuestion())
		}
		w.askOften(w.randomQuestion(), queriesPerState/2)
		for range 6 {
			w.askInsideScope(w.randomQuestion())
		}
		if t.Failed() {
			t.Fatalf("%s=%d repeats it", environmentSeed, seed)
		}
	}
	w.compareFlows()
	return [sha256.Size]byte(w.answers.Sum(nil))
}

func number(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: it must be a number above 0", variable, text)
	}
	return n
}

// randomWorld is a publisher and a DNS server with backends that a test moves.
type randomWorld struct {
	t         *testing.T
	random    *rand.Rand
	settings  publish.Settings
	backends  map[string]*atomic.Pointer[[]*registry.Backend]
	publisher *publish.Publisher
	measure   chan time.Time // makes the publisher take measurements up
	now       time.Time      // stands still
	decisions *decisions.Recorder
	conn      *net.UDPConn
	answers   hash.Hash      // of what came over the wire, without the numbers of the queries
	asked     uint64         // queries that steered addresses answered
	networks  []netip.Prefix // where clients are likely to be
	seen      map[string]int // outcomes, and outcomes by algorithm
	close     func()
}

// Service implements publish.Backends.
func (w *randomWorld) Service(name string) []*registry.Backend {
	if list := w.backends[name]; list != nil {
		return *list.Load()
	}
	return nil
}

// question is one query as the wire and the explanation take it.
type question struct {
	name   string
	family policy.Family
	subnet netip.Prefix // not valid: none
}

func newRandomWorld(t *testing.T, seed uint64, seen map[string]int) *randomWorld {
	t.Helper()
	w := &randomWorld{t: t, random: rand.New(rand.NewPCG(seed, 1)), seen: seen, measure: make(chan time.Time), now: time.Unix(1_700_000_000, 0), answers: sha256.New(),
		backends: map[string]*atomic.Pointer[[]*registry.Backend]{}}
	w.settings = w.randomSettings()
	for _, d := range w.settings.Domains {
		w.backends[d.Name] = new(atomic.Pointer[[]*registry.Backend])
		w.backends[d.Name].Store(&[]*registry.Backend{})
	}
	var err error
	w.publisher, err = publish.New(publish.Options{
		Settings: w.settings, Backends: w, Now: func() time.Time { return w.now }, Measure: w.measure,
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var queries atomic.Int64
	w.decisions = decisions.New(1, func() time.Time { return w.now.Add(time.Duration(queries.Add(1))) })
	server, err := dnsserver.New(dnsserver.Options{
		Decisions: w.decisions, Turns: func() *zone.Turns { return zone.NewTurns(seed, 2) },
		Listen: []string{"127.0.0.1:0"}, View: w.publisher.View, ClientSubnet: true, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- server.Run(ctx) }()
	go func() { ended <- w.publisher.Run(ctx) }()
	if w.conn, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(server.Addrs()[0])); err != nil {
		t.Fatal(err)
	}
	w.close = func() {
		_ = w.conn.Close()
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	return w
}

var regionNames = []string{"eu", "us", "asia", "mars"}

func (w *randomWorld) randomSettings() publish.Settings {
	s := publish.Settings{
		DNS:    config.DNS{DefaultTTL: 20 + w.random.IntN(50), ReturnLastHealthy: w.flip(), Zones: []config.Zone{{Name: "gslb.test", Records: []string{"own A 192.0.2.1", "text TXT x", "alias CNAME d0"}}}},
		NodeID: "node", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.7")},
	}
	for _, name := range regionNames {
		r := config.Region{Name: name}
		if w.flip() {
			latitude, longitude := w.random.Float64()*180-90, w.random.Float64()*360-180
			r.Latitude, r.Longitude = &latitude, &longitude
		}
		if w.random.IntN(3) == 0 {
			r.ProximityBias = w.random.IntN(2*policy.MaxBias+1) - policy.MaxBias
		}
		if w.random.IntN(3) == 0 {
			r.RoutingAlgorithm = string(pick(w.random, policy.PoolAlgorithms()))
		}
		s.Regions = append(s.Regions, r)
	}
	for i := range 2 * len(policy.Algorithms()) {
		s.Domains = append(s.Domains, w.randomDomain(i))
	}
	var err error
	if s.Places, err = geo.New(w.randomPlaces(s.Regions)); err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *randomWorld) randomPlaces(regions []config.Region) geo.Sources {
	s := geo.Sources{Spots: w.random.IntN(4) > 0, Database: w.randomDatabase()}
	for _, r := range regions {
		region := geo.Region{Name: r.Name, Countries: []string{strings.ToUpper(r.Name[:2])}}
		if r.Latitude != nil {
			region.Position = &geo.Position{Latitude: *r.Latitude, Longitude: *r.Longitude}
		}
		s.Regions = append(s.Regions, region)
	}
	if w.flip() {
		s.DefaultRegion = pick(w.random, regionNames)
	}
	seen := map[netip.Prefix]bool{}
	for range w.random.IntN(12) {
		network := w.randomNetwork()
		if !seen[network] {
			seen[network] = true
			s.Mappings = append(s.Mappings, geo.Mapping{CIDR: network, Region: pick(w.random, regionNames)})
			w.networks = append(w.networks, network)
		}
	}
	return s
}

// randomDatabase has countries, some of them regions', and positions here and there; or there is none.
func (w *randomWorld) randomDatabase() *geo.Database {
	if w.random.IntN(4) == 0 {
		return nil
	}
	var networks []geotest.Network
	for range 1 + w.random.IntN(40) {
		country := pick(w.random, []string{"EU", "US", "AS", "ZZ", ""})
		n := geotest.Network{CIDR: w.randomNetwork(), Record: map[string]any{"country_code": country}}
		if w.random.IntN(3) > 0 {
			n.Record = geotest.Located(country, "", w.random.Float64()*180-90, w.random.Float64()*360-180)
		}
		networks = append(networks, n)
		w.networks = append(w.networks, n.CIDR)
	}
	path := filepath.Join(w.t.TempDir(), "random.mmdb")
	if err := os.WriteFile(path, geotest.Database(networks), 0o600); err != nil {
		w.t.Fatal(err)
	}
	database, err := geo.ReadDatabase(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return database
}

func (w *randomWorld) randomNetwork() netip.Prefix {
	if w.random.IntN(10) == 0 { // of clients behind transition mechanisms, and their neighbours
		edge := netip.MustParseAddr(pick(w.random, []string{"64:ff9b::", "64:ff9b::1:0:0:0", "2002:7d00::", "2001::", "2001:1::", "::", "::ffff:125.0.0.0"}))
		return netip.PrefixFrom(within(w.random, netip.PrefixFrom(edge, 100)), 16+w.random.IntN(113)).Masked()
	}

	octets := [16]byte{0x20, 0x01, 0x0d, byte(w.random.IntN(4)), byte(w.random.IntN(4)), byte(w.random.Uint32()), byte(w.random.Uint32())}
	network := netip.PrefixFrom(netip.AddrFrom16(octets), 16+w.random.IntN(48))
	if w.random.IntN(3) > 0 {
		v4 := netip.AddrFrom4([4]byte{byte(125 + w.random.IntN(4)), byte(w.random.IntN(4)), byte(w.random.Uint32()), byte(w.random.Uint32())})
		network = netip.PrefixFrom(v4, 4+w.random.IntN(29))
	}
	return network.Masked()
}

func (w *randomWorld) randomDomain(i int) config.Domain {
	var d config.Domain
	d.SetDefaults()
	d.Name = fmt.Sprintf("d%d.gslb.test", i)
	if w.random.IntN(8) == 0 {
		d.Name = fmt.Sprintf("*.d%d.gslb.test", i)
	}
	d.RoutingAlgorithm = string(policy.Algorithms()[i%len(policy.Algorithms())])
	if policy.Algorithm(d.RoutingAlgorithm).MayLackData() && w.flip() {
		d.FallbackAlgorithm = string(pick(w.random, policy.Algorithms()))
	}
	d.Proximity.ToleranceKm = pick(w.random, []float64{0, 100, 5000})
	d.ClientHash = config.ClientHash{IPv4Prefix: 8 + w.random.IntN(25), IPv6Prefix: 16 + w.random.IntN(49)}
	d.TTL = w.random.IntN(100)
	d.MaxAnswers = 1 + w.random.IntN(3)
	d.FailoverThreshold = 1 + w.random.IntN(3)
	d.OnAllDown = pick(w.random, []string{"", string(policy.ServFail), string(policy.LastHealthy), string(policy.All)})
	d.MinHealthy = pick(w.random, []string{"", "", "2", "50%"})
	d.Regions = slices.Clone(regionNames)
	w.random.Shuffle(len(d.Regions), func(a, b int) { d.Regions[a], d.Regions[b] = d.Regions[b], d.Regions[a] })
	d.Regions = d.Regions[:1+w.random.IntN(len(d.Regions))]
	return d
}

// change gives a few domains other backends and returns when DNS answers with them. Nothing changes answers meanwhile, so that a
// seed repeats what happens.
func (w *randomWorld) change() {
	w.t.Helper()
	for range 3 {
		d := pick(w.random, w.settings.Domains)
		list := []*registry.Backend{}
		for range w.random.IntN(7) {
			list = append(list, w.randomBackend(d.Name, len(list)))
		}
		w.backends[d.Name].Store(&list)
		for _, b := range list {
			for range w.random.IntN(5) {
				w.publisher.Measured(b.ID, time.Duration(1+w.random.IntN(700))*time.Millisecond)
			}
		}
		w.follow(d.Name)
	}
	if w.flip() {
		w.measure <- w.now
		w.follow(w.settings.Domains[0].Name) // after they have been taken up
	}
}

// follow has a domain decided again, apart from everything else: what is answered also depends on what was before.
func (w *randomWorld) follow(domain string) {
	w.t.Helper()
	w.publisher.Mark(domain)
	if err := w.publisher.Flush(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *randomWorld) randomBackend(service string, i int) *registry.Backend {
	b := &registry.Backend{
		ID:     registry.ID{Service: service, Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i / (1 + w.random.IntN(2)))}), Port: uint16(80 + i)},
		Weight: pick(w.random, []int{0, 1, 3, 100, 250, 1000}), Region: pick(w.random, append(regionNames, "nowhere")),
		Share: 1, Status: api.EffectiveHealthy, MayServe: w.random.IntN(3) > 0, Reason: registry.ReasonAgreed,
	}
	if w.random.IntN(3) == 0 {
		b.Address = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: byte(i)})
	}
	switch w.random.IntN(4) { // of every four: one bleeds, one drains
	case 0:
		b.Share = w.random.Float64()
	case 1:
		b.Draining, b.DrainEndsAt, b.Share = true, w.now, pick(w.random, []float64{0, 0.3})
	}
	if !b.MayServe {
		b.Status, b.Reason = api.EffectiveUnhealthy, registry.ReasonFailing
		b.Validation.Err = "connection refused"
		if w.flip() {
			b.LastHealthyAt = w.now.Add(-time.Duration(w.random.IntN(300)) * time.Second)
		}
	}
	if w.random.IntN(6) == 0 {
		b.Override = &registry.Override{Healthy: w.flip(), CreatedBy: "192.0.2.9", Reason: "test"}
		b.MayServe = b.Override.Healthy
	}
	return b
}

func (w *randomWorld) randomQuestion() question {
	d := pick(w.random, w.settings.Domains)
	q := question{name: d.Name, family: policy.Family(w.random.IntN(2))}
	if q.name[0] == '*' {
		q.name = "any" + q.name[1:]
	}
	if w.random.IntN(20) == 0 {
		q.name = pick(w.random, []string{"own.gslb.test", "text.gslb.test", "alias.gslb.test", "no.gslb.test", "gslb.test", "example.org"})
	}
	if w.random.IntN(4) > 0 {
		q.subnet = w.randomNetwork()
		if len(w.networks) > 0 && w.flip() {
			q.subnet = pick(w.random, w.networks)
		}
	}
	return q
}

// ask compares one answer with its explanation.
func (w *randomWorld) ask(q question) (wire *dns.Msg, e explain.Explanation) {
	w.t.Helper()
	wire, e = w.both(q)
	if e.Basis != nil {
		w.seen[string(e.Outcome)+" by "+string(e.Basis.Rules.Algorithm)]++
	}
	w.seen[string(e.Outcome)]++
	if e.Basis != nil && w.random.IntN(50) == 0 {
		if wrong := w.compareSample(wire, e); wrong != "" {
			w.t.Errorf("%+v: the newest sampled decision %s; wire: %v", q, wrong, wire)
		}
	}
	if wrong := compare(wire, e); wrong != "" {
		w.t.Errorf("%+v: %s\nwire: %v\nexplained: %s with %+v, TTL %d, scope %d, of %+v", q, wrong, wire, e.Outcome, e.Decision.Due, e.TTL, e.Scope, e.Basis)
	}
	return wire, e
}

// both is what the wire answers and its explanation.
func (w *randomWorld) both(q question) (*dns.Msg, explain.Explanation) {
	e := w.explanation(q)
	wire := w.exchange(q)
	if addresses, _ := addressesOf(wire); len(addresses) > 0 && e.Basis != nil {
		w.asked++
	}
	return wire, e
}

func (w *randomWorld) explanation(q question) explain.Explanation {
	asked := explain.Query{Name: q.name, Family: q.family, Client: netip.MustParseAddr("127.0.0.1")}
	if q.subnet.IsValid() && q.subnet.Bits() > 0 {
		asked.Client, asked.Subnet = q.subnet.Addr(), true
	}
	e, err := explain.Explain(w.publisher.View(), asked)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// compare says what differs.
func compare(wire *dns.Msg, e explain.Explanation) string {
	want := map[policy.Outcome][]int{
		policy.NoHealthyBackend: {dns.RcodeServerFailure}, explain.DomainNotFound: {dns.RcodeNameError, dns.RcodeRefused},
	}[e.Outcome]
	if want == nil {
		want = []int{dns.RcodeSuccess}
	}
	if !slices.Contains(want, wire.Rcode) {
		return "the wire says " + dns.RcodeToString[wire.Rcode]
	}
	addresses, ttl := addressesOf(wire)
	if e.Basis == nil {
		if !slices.Equal(addresses, e.Addresses) {
			return "other addresses"
		}
		return ""
	}
	if len(addresses) != min(len(e.Decision.Due), e.Basis.Answers) || len(e.Addresses) != len(addresses) {
		return "another number of addresses"
	}
	for _, address := range append(addresses, e.Addresses...) {
		if explain.Share(e.Decision.Due, address) == 0 {
			return fmt.Sprintf("%s has no share", address)
		}
	}
	if e.Decision.Hashed && !slices.Equal(addresses, e.Addresses) {
		return "other addresses for this client network"
	}
	if len(addresses) > 0 && (ttl != e.TTL || ttl != e.Decision.TTL) {
		return "another TTL"
	}
	if scope, there := scopeOf(wire); there && len(addresses) > 0 && scope != e.Scope {
		return fmt.Sprintf("the wire's scope is %d", scope)
	}
	return shares(e)
}

// shares says what is wrong with how an explanation shares out the answers.
func shares(e explain.Explanation) string {
	sum, seen := 0.0, map[netip.Addr]bool{}
	for i := range e.Backends {
		b := &e.Backends[i]
		if (b.Excluded == "") != (b.Share > 0) {
			return fmt.Sprintf("%s has the share %f and is excluded because %q", b.Address, b.Share, b.Excluded)
		}
		if b.Excluded == "" && !seen[b.Address] {
			seen[b.Address] = true
			sum += b.Share
		}
	}
	if len(e.Decision.Due) > 0 && (sum < 0.999999 || sum > 1.000001 || e.Selected() == nil) {
		return fmt.Sprintf("the shares come to %f, selected is %v", sum, e.Selected())
	}
	return ""
}

// compareSample says how the newest decision that was sampled differs from the answer that it is of.
func (w *randomWorld) compareSample(wire *dns.Msg, e explain.Explanation) string {
	d := w.decisions.Decisions()[0]
	if again, ok := w.decisions.Decision(d.ID); !ok || again != d {
		return "is another by its id"
	}
	past := explain.Past(explain.Query{Name: e.Name, Family: e.Family, Client: d.Client.Addr()}, d.Steered)
	addresses, _ := addressesOf(wire)
	switch {
	case past.Basis != e.Basis || past.Outcome != e.Outcome || past.Region != e.Region || !d.Client.Contains(e.Client.Unmap()):
		return fmt.Sprintf("is %+v", d)
	case len(addresses) != 0 && (len(past.Addresses) == 0 || past.Addresses[0] != addresses[0]):
		return fmt.Sprintf("has %v first", past.Addresses)
	case len(addresses) == 0 && len(past.Addresses) != 0:
		return fmt.Sprintf("has %v", past.Addresses)
	}
	return ""
}

// compareFlows: every answer with an address has been counted, once.
func (w *randomWorld) compareFlows() {
	w.t.Helper()
	sum := w.decisions.Missed()
	for _, f := range w.decisions.Flows(time.Time{}, time.Time{}) {
		sum += f.Count
	}
	if totals := w.decisions.Totals(); sum != w.asked || totals.Decisions < sum || totals.Average <= 0 {
		w.t.Errorf("%d answers were counted, %d were given; %+v", sum, w.asked, totals)
	}
}

// askOften compares how often each address leads with its share.
func (w *randomWorld) askOften(q question, times int) {
	w.t.Helper()
	led := map[netip.Addr]int{}
	_, first := w.ask(q)
	for range times {
		wire, e := w.ask(q)
		if e.Basis == nil || len(e.Decision.Due) == 0 {
			return
		}
		addresses, _ := addressesOf(wire)
		led[addresses[0]]++
	}
	if first.Decision.Hashed { // and this client keeps to the one that ask has compared
		return
	}
	for _, due := range first.Decision.Due {
		if want := explain.Share(first.Decision.Due, due.Address) * float64(times); float64(led[due.Address]) < want-2.1 || float64(led[due.Address]) > want+2.1 {
			w.t.Errorf("%+v: %s led %d of %d answers, its share is %.2f of them", q, due.Address, led[due.Address], times, want)
		}
	}
}

// askInsideScope compares the answer for a network with those for networks and addresses inside the scope that came with it.
func (w *randomWorld) askInsideScope(q question) {
	w.t.Helper()
	wire, first := w.ask(q)
	scope, there := scopeOf(wire)
	if !there || first.Basis == nil || len(first.Decision.Due) == 0 || q.subnet.Bits() == 0 {
		return
	}
	wanted, _ := addressesOf(wire)
	for range 8 {
		inside := netip.PrefixFrom(within(w.random, netip.PrefixFrom(q.subnet.Addr(), int(scope))), int(scope)+w.random.IntN(q.subnet.Addr().BitLen()-int(scope)+1))
		if inside.Bits() == 0 {
			continue
		}
		other, e := w.ask(question{q.name, q.family, inside.Masked()})
		if e.Basis == nil {
			w.t.Errorf("%+v is steered and %s inside its scope is not", q, inside)
			return
		}
		addresses, _ := addressesOf(other)
		if !slices.Equal(e.Decision.Due, first.Decision.Due) || e.Decision.Hashed != first.Decision.Hashed || e.Decision.Hashed && !slices.Equal(addresses, wanted) {
			w.t.Errorf("%+v is answered %v of %v with scope %d, but %s inside it %v of %v", q, wanted, first.Decision.Due, scope, inside, addresses, e.Decision.Due)
		}
	}
}

// within is a random address of a network.
func within(random *rand.Rand, p netip.Prefix) netip.Addr {
	octets := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < 8*len(octets); i++ {
		octets[i/8] |= byte(random.IntN(2)) << (7 - i%8)
	}
	address, _ := netip.AddrFromSlice(octets)
	return address
}

// exchange sends the query and returns the answer.
func (w *randomWorld) exchange(q question) *dns.Msg {
	w.t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(q.name+".", map[policy.Family]uint16{policy.IPv4: dns.TypeA, policy.IPv6: dns.TypeAAAA}[q.family])
	m.SetEdns0(1232, false)
	if q.subnet.IsValid() {
		family := uint16(1)
		if q.subnet.Addr().Is6() {
			family = 2
		}
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: family, SourceNetmask: uint8(q.subnet.Bits()), Address: q.subnet.Addr().AsSlice()}}
	}
	packet, err := m.Pack()
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.conn.Write(packet); err != nil {
		w.t.Fatal(err)
	}
	_ = w.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	reply := make([]byte, 4096)
	n, err := w.conn.Read(reply)
	if err != nil {
		w.t.Fatal(err)
	}
	answer := new(dns.Msg)
	if err := answer.Unpack(reply[:n]); err != nil || answer.Id != m.Id {
		w.t.Fatalf("%v: %v", err, answer)
	}
	w.answers.Write(reply[2:n])
	return answer
}

func addressesOf(m *dns.Msg) (addresses []netip.Addr, ttl uint32) {
	for _, rr := range m.Answer {
		var octets net.IP
		switch rr := rr.(type) {
		case *dns.A:
			octets = rr.A.To4()
		case *dns.AAAA:
			octets = rr.AAAA
		default:
			continue
		}
		address, _ := netip.AddrFromSlice(octets)
		addresses, ttl = append(addresses, address), rr.Header().Ttl
	}
	return addresses, ttl
}

func scopeOf(m *dns.Msg) (scope uint8, there bool) {
	for _, o := range m.IsEdns0().Option {
		if subnet, ok := o.(*dns.EDNS0_SUBNET); ok {
			return subnet.SourceScope, true
		}
	}
	return 0, false
}

func (w *randomWorld) flip() bool { return w.random.IntN(2) == 0 }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
