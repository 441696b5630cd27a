package overwatch // inside: it shares explain_test.go

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
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnsserver"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/geo/geotest"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// randomWorld is a publisher and a DNS server with backends that the test changes.
type randomWorld struct {
	t         *testing.T
	random    *rand.Rand
	settings  publish.Settings
	backends  map[string]*atomic.Pointer[[]*registry.Backend]
	publisher *publish.Publisher
	measure   chan time.Time // makes the publisher use measurements
	now       time.Time      // constant
	decisions *decisions.Recorder
	conn      *net.UDPConn
	answers   hash.Hash      // hash of the DNS answers, without query IDs
	asked     uint64         // number of queries with load-balanced answers
	networks  []netip.Prefix // networks of likely clients
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

// question is a query for DNS and for Explain.
type question struct {
	name   string
	family policy.Family
	https  bool         // query for HTTPS records instead of addresses
	subnet netip.Prefix // invalid: none
}

func newRandomWorld(t *testing.T, seed uint64, seen map[string]int) *randomWorld {
	t.Helper()
	w := &randomWorld{t: t, random: rand.New(rand.NewPCG(seed, 1)), seen: seen, measure: make(chan time.Time),
		now: time.Unix(1_700_000_000, 0), answers: sha256.New(),
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
		Decisions: w.decisions, Rotations: func() *zone.Rotations { return zone.NewRotations(seed, 2) },
		Listen: []string{"127.0.0.1:0"}, View: w.publisher.View, ClientSubnet: true, Registerer: prometheus.NewRegistry(),
		Logger: zerolog.Nop(),
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

func (w *randomWorld) randomSettings() publish.Settings {
	s := publish.Settings{
		DNS: config.DNS{DefaultTTL: 20 + w.random.IntN(50), ReturnLastHealthy: w.flip(),
			Zones: []config.Zone{{Name: "gslb.test", Records: []string{"own A 192.0.2.1", "text TXT x", "alias CNAME d0"}}}},
		NodeID: "node", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.7")},
	}
	for _, name := range regionNames {
		r := config.Region{Name: name, Enabled: true}
		if w.flip() {
			latitude, longitude := w.random.Float64()*180-90, w.random.Float64()*360-180
			r.Latitude, r.Longitude = &latitude, &longitude
		}
		if w.random.IntN(3) == 0 {
			r.ProximityBias = w.random.IntN(2*policy.MaxBias+1) - policy.MaxBias
		}
		if w.random.IntN(3) == 0 {
			r.RoutingAlgorithm = pick(w.random, policy.PoolAlgorithms()).Name
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
	s := geo.Sources{WithLocations: w.random.IntN(4) > 0, Database: w.randomDatabase()}
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

// randomDatabase returns a database with random countries and positions, or nil. Regions list some of the countries.
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
	if w.random.IntN(10) == 0 { // clients behind transition mechanisms, and neighboring addresses
		edge := netip.MustParseAddr(pick(w.random, []string{"64:ff9b::", "64:ff9b::1:0:0:0", "2002:7d00::", "2001::",
			"2001:1::", "::", "::ffff:125.0.0.0"}))
		return netip.PrefixFrom(within(w.random, netip.PrefixFrom(edge, 100)), 16+w.random.IntN(113)).Masked()
	}

	octets := [16]byte{0x20, 0x01, 0x0d, byte(w.random.IntN(4)), byte(w.random.IntN(4)), byte(w.random.Uint32()),
		byte(w.random.Uint32())}
	network := netip.PrefixFrom(netip.AddrFrom16(octets), 16+w.random.IntN(48))
	if w.random.IntN(3) > 0 {
		v4 := netip.AddrFrom4([4]byte{byte(125 + w.random.IntN(4)), byte(w.random.IntN(4)), byte(w.random.Uint32()),
			byte(w.random.Uint32())})
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
	d.RoutingAlgorithm = policy.Algorithms()[i%len(policy.Algorithms())].Name
	if policy.FindAlgorithm(d.RoutingAlgorithm).MayLackData() && w.flip() {
		d.FallbackAlgorithm = pick(w.random, policy.Algorithms()).Name
	}
	d.Proximity.ToleranceKm = pick(w.random, []float64{0, 100, 5000})
	d.ClientHash = config.ClientHash{IPv4Prefix: 8 + w.random.IntN(25), IPv6Prefix: 16 + w.random.IntN(49)}
	d.TTL = w.random.IntN(100)
	d.MaxAnswers = 1 + w.random.IntN(3)
	if w.flip() {
		d.HTTPS.ALPN = []string{"h2"}
	}
	d.FailoverThreshold = 1 + w.random.IntN(3)
	d.OnAllDown = pick(w.random, []string{"", string(policy.ServFail), string(policy.LastHealthy), string(policy.All)})
	d.MinHealthy = pick(w.random, []string{"", "", "2", "50%"})
	d.Regions = slices.Clone(regionNames)
	w.random.Shuffle(len(d.Regions), func(a, b int) { d.Regions[a], d.Regions[b] = d.Regions[b], d.Regions[a] })
	d.Regions = d.Regions[:1+w.random.IntN(len(d.Regions))]
	return d
}

// change replaces the backends of some domains and returns when DNS answers with them. No other change is concurrent,
// so that a seed is reproducible.
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
		w.follow(w.settings.Domains[0].Name) // after the publisher has read the measurements
	}
}

// follow makes the publisher repeat the decision of a domain, as a separate step: decisions depend on previous
// decisions.
func (w *randomWorld) follow(domain string) {
	w.t.Helper()
	w.publisher.Mark(domain)
	if err := w.publisher.Flush(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *randomWorld) randomBackend(service string, i int) *registry.Backend {
	b := &registry.Backend{
		ID: registry.ID{Service: service, Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i / (1 + w.random.IntN(2)))}),
			Port: uint16(80 + i)},
		Weight: pick(w.random, []int{0, 1, 3, 100, 250, 1000}), Region: pick(w.random, append(regionNames, "nowhere")),
		Share: 1, Status: api.EffectiveHealthy, MayServe: w.random.IntN(3) > 0, Reason: status.ReasonAgreed,
	}
	if w.random.IntN(3) == 0 {
		b.Address = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: byte(i)})
	}
	switch w.random.IntN(4) { // one in four has an early warning, one in four drains
	case 0:
		b.Share = w.random.Float64()
	case 1:
		b.Draining, b.DrainEndsAt, b.Share = true, w.now, pick(w.random, []float64{0, 0.3})
	}
	if !b.MayServe {
		b.Status, b.Reason = api.EffectiveUnhealthy, status.ReasonFailing
		b.OwnCheck.LastError = "connection refused"
		if w.flip() {
			b.LastHealthyAt = w.now.Add(-time.Duration(w.random.IntN(300)) * time.Second)
		}
	}
	if w.random.IntN(6) == 0 {
		b.Override = &registry.AdminState{Healthy: w.flip(), CreatedBy: "192.0.2.9", Reason: "test"}
		b.MayServe = b.Override.Healthy
	}
	return b
}

func (w *randomWorld) randomQuestion() question {
	d := pick(w.random, w.settings.Domains)
	q := question{name: d.Name, family: policy.Family(w.random.IntN(2)), https: w.random.IntN(4) == 0}
	if q.name[0] == '*' {
		q.name = "any" + q.name[1:]
	}
	if w.random.IntN(20) == 0 {
		q.name = pick(w.random, []string{"own.gslb.test", "text.gslb.test", "alias.gslb.test", "no.gslb.test", "gslb.test",
			"example.org"})
	}
	if w.random.IntN(4) > 0 {
		q.subnet = w.randomNetwork()
		if len(w.networks) > 0 && w.flip() {
			q.subnet = pick(w.random, w.networks)
		}
	}
	return q
}

// within returns a random address of a network.
func within(random *rand.Rand, p netip.Prefix) netip.Addr {
	octets := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < 8*len(octets); i++ {
		octets[i/8] |= byte(random.IntN(2)) << (7 - i%8)
	}
	address, _ := netip.AddrFromSlice(octets)
	return address
}

func (w *randomWorld) flip() bool { return w.random.IntN(2) == 0 }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
