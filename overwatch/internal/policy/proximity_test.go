package policy // inside: it uses applyBias

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"gslb.internal/shared/model"
)

var (
	frankfurt = Coordinates{50.11, 8.68}
	amsterdam = Coordinates{52.37, 4.90}
)

func TestBiased_IsTheFormulaOfRoute53(t *testing.T) {
	for _, c := range []struct {
		bias int
		want float32
	}{{0, 1000}, {50, 500}, {99, 10}, {-50, 2000}, {-99, 100_000}} {
		if got := applyBias(1000, c.bias); got < c.want*0.999 || got > c.want*1.001 {
			t.Errorf("bias %d: 1000 km seem %.1f, want %.1f", c.bias, got, c.want)
		}
	}
}

func TestDecide_Proximity(t *testing.T) {
	known := map[string]Coordinates{"fra": frankfurt, "ams": amsterdam, "us": newYork}
	all := []string{"10.0.0.1 fra 3", "10.0.0.2 ams 1", "10.0.0.3 us 1"}
	cases := []struct {
		name       string
		position   *Coordinates
		client     string
		tolerance  float64
		bias       map[string]int
		fallback   *Algorithm
		candidates []string
		want       string
		region     string
	}{
		{"the nearest", &paris, "", 0, nil, nil, all, "success 10.0.0.2=100", "ams"},
		{"as near within the tolerance, by weight", &paris, "", 100, nil, nil, all, "success 10.0.0.1=300 10.0.0.2=100",
			"ams"},
		{"not beyond it", &paris, "", 40, nil, nil, all, "success 10.0.0.2=100", "ams"},
		{"a bias draws clients", &paris, "", 0, map[string]int{"fra": 20}, nil, all, "success 10.0.0.1=300", "fra"},
		{"and keeps them off", &paris, "", 0, map[string]int{"us": 99, "ams": -50}, nil, all, "success 10.0.0.3=100", "us"},
		{"down: the next", &paris, "", 0, nil, nil, []string{"10.0.0.1 fra 3", "10.0.0.2 ams 1 down", "10.0.0.3 us 1"},
			"failover 10.0.0.1=300", "fra"},
		{"down far away is no failover", &paris, "", 0, nil, nil,
			[]string{"10.0.0.1 fra 3", "10.0.0.2 ams 1", "10.0.0.3 us 1 down"}, "success 10.0.0.2=100", "ams"},
		{"all down, all answer, the nearest first", &newYork, "", 0, nil, nil,
			[]string{"10.0.0.1 fra 3 down", "10.0.0.3 us 1 down"}, "fallback 10.0.0.3=100", "us"},
		{"no position: the client's region", nil, "us", 0, nil, nil, all, "success 10.0.0.3=100", "us"},
		{"no position, no region: the domain's order", nil, "", 0, nil, nil, all, "success 10.0.0.1=300", "fra"},
		{"no position: the fallback", nil, "us", 0, nil, Weighted, all, "success 10.0.0.1=300 10.0.0.2=100 10.0.0.3=100", ""},
		{"a region without coordinates comes last", &tokyo, "", 1000, nil, nil, []string{"10.0.0.1 fra 1", "10.0.0.4 moon 1"},
			"success 10.0.0.1=100", "fra"},
		{"no region has coordinates: the client's region", &tokyo, "moon", 0, nil, nil,
			[]string{"10.0.0.4 moon 1", "10.0.0.5 mars 1"}, "success 10.0.0.4=100", "moon"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var candidates []Candidate
			for _, line := range c.candidates {
				candidates = append(candidates, parseCandidate(t, line))
			}
			rules := Rules{Algorithm: Proximity, Fallback: c.fallback, Regions: []string{"fra", "ams", "us"}, OnAllDown: All,
				TTL:    60,
				Client: c.client, Position: c.position, Coordinates: known, Bias: c.bias,
				Domain: &model.Domain{Proximity: model.Proximity{ToleranceKm: c.tolerance}}}
			d := Decide(rules, candidates, IPv4)
			if got := describe(d); got != c.want || d.Region != c.region {
				t.Errorf("%s in %q, want %s in %q", got, d.Region, c.want, c.region)
			}
			if len(d.Excluded)+len(d.Members) != len(candidates) {
				t.Errorf("%d of %d candidates are neither in nor explained", len(candidates)-len(d.Excluded)-len(d.Members),
					len(candidates))
			}
		})
	}
}

func TestDecide_TheFallbackChoosesWhereTheFirstLacksData(t *testing.T) {
	candidates := []string{"10.0.0.1 eu 1 ms=20/9", "10.0.0.2 eu 3 ms=80/9", "10.0.0.3 us 1"}
	slow := []string{"10.0.0.1 eu 1 ms=900/9", "10.0.0.2 eu 3", "10.0.0.3 us 1"}
	for _, c := range []struct {
		first, fallback *Algorithm
		client          string
		candidates      []string
		want            string
		chose           *Algorithm
	}{
		{Geolocation, Latency, "us", candidates, "success 10.0.0.3=100", Geolocation},
		{Geolocation, Latency, "", candidates, "success 10.0.0.1=100", Latency},
		{Geolocation, RoundRobin, "", candidates, "success 10.0.0.1=100 10.0.0.2=100 10.0.0.3=100", RoundRobin},
		{Geolocation, Failover, "", candidates, "success 10.0.0.1=100 10.0.0.2=300", Failover},
		{Latency, Geolocation, "us", candidates, "success 10.0.0.1=100", Latency},
		{Latency, Geolocation, "us", slow, "success 10.0.0.3=100", Geolocation},
		{Latency, ClientHash, "us", slow, "success 10.0.0.1=100 10.0.0.2=300 10.0.0.3=100", ClientHash},
		{Latency, nil, "us", slow, "success 10.0.0.1=100 10.0.0.2=300 10.0.0.3=100", Latency},
	} {
		var list []Candidate
		for _, line := range c.candidates {
			list = append(list, parseCandidate(t, line))
		}
		d := Decide(Rules{Algorithm: c.first, Fallback: c.fallback, Regions: []string{"eu", "us"}, TTL: 60, Client: c.client,
			Domain: &model.Domain{LatencyConfig: model.LatencyConfig{MaxLatencyMs: 500}}}, list, IPv4)
		if got := describe(d); got != c.want || d.Algorithm != c.chose || d.Hashed != (c.chose == ClientHash) {
			t.Errorf("%s else %s for a client in %q: %s by %s (hashed: %t), want %s by %s", c.first, c.fallback, c.client, got,
				d.Algorithm, d.Hashed, c.want, c.chose)
		}
	}
}

func TestDecide_InsideARegionItsOwnAlgorithmChooses(t *testing.T) {
	candidates := []string{"10.0.0.1 eu 1 ms=20/9", "10.0.0.2 eu 3 ms=80/9", "10.0.0.3 us 1", "10.0.0.4 us 2"}
	for _, c := range []struct {
		outer, inner *Algorithm
		client       string
		want         string
		hashed       bool
	}{
		{Geolocation, nil, "eu", "success 10.0.0.1=100 10.0.0.2=300", false},
		{Geolocation, RoundRobin, "eu", "success 10.0.0.1=100 10.0.0.2=100", false},
		{Geolocation, Latency, "eu", "success 10.0.0.1=100", false},
		{Geolocation, ClientHash, "eu", "success 10.0.0.1=100 10.0.0.2=300", true},
		{Geolocation, ClientHash, "us", "success 10.0.0.3=100 10.0.0.4=200", false}, // ClientHash applies within eu only
		{Failover, Latency, "us", "success 10.0.0.1=100", false},
		{Weighted, Latency, "eu", "success 10.0.0.1=100 10.0.0.2=300 10.0.0.3=100 10.0.0.4=200", false}, // chooses no region
	} {
		var list []Candidate
		for _, line := range candidates {
			list = append(list, parseCandidate(t, line))
		}
		rules := Rules{Algorithm: c.outer, Pools: map[string]*Algorithm{"eu": c.inner}, Regions: []string{"eu", "us"},
			TTL: 60, Client: c.client}
		if d := Decide(rules, list, IPv4); describe(d) != c.want || d.Hashed != c.hashed {
			t.Errorf("%s, inside eu %q: %s (hashed: %t), want %s", c.outer, c.inner, describe(d), d.Hashed, c.want)
		}
	}
}

// A backend without clients is selected within a tenth of the fastest latency. A backend with clients stays selected
// within a quarter.
func TestDecide_LatencyComesInWithinATenthAndStaysWithinAQuarter(t *testing.T) {
	for _, c := range []struct {
		held   bool
		second int // milliseconds, where the first has 100
		in     bool
	}{{false, 110, true}, {false, 111, false}, {true, 111, true}, {true, 125, true}, {true, 126, false}} {
		candidates := []Candidate{parseCandidate(t, "10.0.0.1 eu 1 ms=100/9"),
			parseCandidate(t, fmt.Sprintf("10.0.0.2 eu 1 ms=%d/9", c.second))}
		rules := Rules{Algorithm: Latency, TTL: 60,
			Domain: &model.Domain{LatencyConfig: model.LatencyConfig{MinSamples: 1}}}
		if c.held {
			candidates[1].Latency.Groups = []string{Decide(rules, candidates, IPv4).Group}
		}
		if got, want := describe(Decide(rules, candidates, IPv4)),
			map[bool]string{true: "success 10.0.0.1=100 10.0.0.2=100", false: "success 10.0.0.1=100"}[c.in]; got != want {
			t.Errorf("%d ms to 100, with clients: %t: %s, want %s", c.second, c.held, got, want)
		}
	}
}

// In one network, 0.7 ms and 1.0 ms differ by more than a tenth, but the difference is irrelevant.
func TestDecide_LatencyToleratesDifferencesInsideOneNetwork(t *testing.T) {
	var candidates []Candidate
	for i, due := range backendsOf(1, 1, 1) {
		took := []time.Duration{700 * time.Microsecond, time.Millisecond, 6 * time.Millisecond}[i]
		candidates = append(candidates, Candidate{Address: due.Address, Weight: 1, Share: 1, MayServe: true,
			Latency: LatencyMeasurement{Smoothed: took, Samples: 3}})
	}
	rules := Rules{Algorithm: Latency, TTL: 60,
		Domain: &model.Domain{LatencyConfig: model.LatencyConfig{MinSamples: 1, ToleranceMs: 5}}}
	if got := len(Decide(rules, candidates, IPv4).Members); got != 2 {
		t.Errorf("%d of 3 backends share, want those at 0.7 and 1.0 ms", got)
	}
	candidates[2].Latency.Groups = []string{Decide(rules, candidates, IPv4).Group}
	if got := len(Decide(rules, candidates, IPv4).Members); got != 3 {
		t.Errorf("%d of 3 backends share, want also the one that shares up to 7.1 ms", got)
	}
	rules.Domain = &model.Domain{LatencyConfig: model.LatencyConfig{MinSamples: 1}}
	candidates[2].Latency.Groups = nil
	if got := len(Decide(rules, candidates, IPv4).Members); got != 1 {
		t.Errorf("%d of 3 backends share without a tolerance, want 1", got)
	}
}

func TestDecide_LatencyThatOnlyFluctuatesChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	candidates := []Candidate{parseCandidate(t, "10.0.0.1 eu 1"), parseCandidate(t, "10.0.0.2 eu 1"),
		parseCandidate(t, "10.0.0.3 eu 1 ms=60/9")}
	rules := Rules{Algorithm: Latency, TTL: 60,
		Domain: &model.Domain{LatencyConfig: model.LatencyConfig{MinSamples: 1}}}
	changes, before := 0, ""
	for range 1000 {
		for i := range 2 { // 20 ms, give or take 8 %
			candidates[i].Latency.Smoothed = time.Duration((20 + 3.2*random.Float64() - 1.6) * float64(time.Millisecond))
			candidates[i].Latency.Samples = 9
		}
		d := Decide(rules, candidates, IPv4)
		if got := describe(d); got != before {
			changes, before = changes+1, got
		}
		for i := range candidates {
			candidates[i].Latency.Groups = []string{d.Group}
		}
		for _, e := range d.Excluded {
			candidates[e.Candidate].Latency.Groups = nil
		}
	}
	if changes > 2 {
		t.Errorf("the answers changed %d times", changes-1)
	}
	candidates[0].Latency.Smoothed = 30 * time.Millisecond
	candidates[1].Latency.Smoothed = 20 * time.Millisecond
	if got := describe(Decide(rules, candidates, IPv4)); got != "success 10.0.0.2=100" {
		t.Errorf("half as slow again: %s", got)
	}
}

// randomRules creates random rules, candidates and client locations.
func randomRules(random *rand.Rand) (Rules, []Candidate, []ClientLocation) {
	names := []string{"a", "b", "c", "d", "e"}
	somewhere := func() Coordinates { return Coordinates{random.Float64()*180 - 90, random.Float64()*360 - 180} }
	rules := Rules{
		Algorithm: []*Algorithm{Proximity, Proximity, Geolocation, Latency}[random.IntN(4)],
		Fallback:  append(Algorithms(), nil, nil)[random.IntN(9)],
		Regions:   []string{"a", "b", "c"}, OnAllDown: []OnAllDown{ServFail, All}[random.IntN(2)], TTL: 60,
		Coordinates: map[string]Coordinates{}, Bias: map[string]int{}, Pools: map[string]*Algorithm{},
		Domain: &model.Domain{LatencyConfig: model.LatencyConfig{MinSamples: 1},
			Proximity: model.Proximity{ToleranceKm: []float64{0, 100, 3000}[random.IntN(3)]}},
	}
	for _, name := range names {
		if random.IntN(5) > 0 {
			rules.Coordinates[name] = somewhere()
		}
		if random.IntN(3) == 0 {
			rules.Bias[name] = random.IntN(2*MaxBias+1) - MaxBias
		}
		if random.IntN(3) == 0 {
			rules.Pools[name] = PoolAlgorithms()[random.IntN(4)]
		}
	}
	var candidates []Candidate
	for i, due := range backendsOf(randomParts(random)...) {
		candidates = append(candidates, Candidate{Address: due.Address, Region: names[random.IntN(5)], Weight: random.IntN(4),
			Share:    float64(random.IntN(3)) / 2,
			MayServe: random.IntN(4) > 0, Latency: LatencyMeasurement{Smoothed: time.Duration(random.IntN(100)),
				Samples: random.IntN(2), Groups: []string{"latency", "geolocation a"}[:2*(i%2)]}})
	}
	spots := []ClientLocation{{}}
	for range 60 {
		spot := ClientLocation{Region: append(names, "")[random.IntN(6)]}
		if random.IntN(4) > 0 {
			at := somewhere()
			spot.Position = &at
		}
		spots = append(spots, spot)
	}
	return rules, candidates, spots
}

// atlasOf returns the location table of client locations, and the regions of the clients at each location by ranking.
func atlasOf(spots []ClientLocation) (atlas *LocationTable, clients []string) {
	positions, rankings := make([]*Coordinates, len(spots)), make([]uint16, len(spots))
	clients = []string{""}
	for i, spot := range spots {
		at := slices.Index(clients, spot.Region)
		if at < 0 {
			at = len(clients)
			clients = append(clients, spot.Region)
		}
		positions[i], rankings[i] = spot.Position, uint16(at)
	}
	return NewLocationTable(positions, rankings), clients
}

// The region of a client depends on the regions of a name, even if several names share a location table.
func TestAtlas_NamesWithOtherRegionsHaveOtherClients(t *testing.T) {
	atlas := NewLocationTable([]*Coordinates{nil, nil}, []uint16{0, 1})
	rules := Rules{Algorithm: Geolocation, TTL: 60}
	var candidates []Candidate
	for i, due := range backendsOf(1, 1) {
		candidates = append(candidates, Candidate{Address: due.Address, Region: []string{"eu", "us"}[i], Weight: 1, Share: 1,
			MayServe: true})
	}
	for _, region := range []string{"us", "eu", "us"} {
		decisions, class := atlas.Decide(rules, candidates, IPv4, []string{"", region}, region)
		if got := decisions[class[1]].Region; got != region {
			t.Errorf("clients in %s are sent to %s", region, got)
		}
	}
}

// TestAtlas_DecidesAsEachSpotByItself checks that caching and grouping of client locations change no decision.
func TestAtlas_DecidesAsEachSpotByItself(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 3))
		rules, candidates, spots := randomRules(random)
		atlas, clients := atlasOf(spots)
		for range 3 {
			for _, family := range []Family{IPv4, IPv6} {
				decisions, class := atlas.Decide(rules, candidates, family, clients, "")
				for i, spot := range spots {
					rules.Client, rules.Position = spot.Region, spot.Position
					got, want := decisions[class[i]], Decide(rules, candidates, family)
					if !rules.UsesLatency() {
						want.Excluded = nil
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("seed %d, %v at %v: %+v, by itself %+v", seed, rules, spot, got, want)
					}
				}
			}
			candidates[random.IntN(len(candidates))].MayServe = random.IntN(2) == 0
		}
	}
}

// Names share the results for each set of regions: 100 000 names use a few hundred sets.
func TestAtlas_FindsEachPartitionOnce(t *testing.T) {
	at := Coordinates{1, 2}
	rules := Rules{Algorithm: Proximity, Coordinates: map[string]Coordinates{}, TTL: 60}
	atlas, clients := atlasOf([]ClientLocation{{Position: &at}, {Region: "r1"}})
	backend := backendsOf(1)[0].Address
	decide := func(region string) *uint16 {
		rules.Coordinates[region] = at
		only := []Candidate{{Address: backend, Region: region, Weight: 1, Share: 1, MayServe: true}}
		_, class := atlas.Decide(rules, only, IPv4, clients, "")
		return &class[0]
	}
	first := decide("r0")
	for i := range 300 {
		decide(fmt.Sprint("r", i))
	}
	if decide("r0") != first {
		t.Error("the first partition was found again")
	}
}

// The benchmark changes the health of a backend with the maximum number of client locations and 20 regions.
func BenchmarkAtlas(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	rules := Rules{Algorithm: Proximity, Coordinates: map[string]Coordinates{}, TTL: 60,
		Domain: &model.Domain{Proximity: model.Proximity{ToleranceKm: 100}}}
	var candidates []Candidate
	for i, due := range backendsOf(make([]int, 60)...) {
		region := fmt.Sprint("r", i%20)
		rules.Coordinates[region] = Coordinates{random.Float64()*120 - 60, random.Float64()*360 - 180}
		candidates = append(candidates, Candidate{Address: due.Address, Region: region, Weight: 1, Share: 1, MayServe: true})
	}
	spots := make([]ClientLocation, 32768)
	for i := range spots {
		spots[i].Position = &Coordinates{random.Float64()*120 - 60, random.Float64()*360 - 180}
	}
	atlas, clients := atlasOf(spots)
	atlas.Decide(rules, candidates, IPv4, clients, "")
	b.Run("a backend", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			candidates[0].MayServe = i%2 == 0
			atlas.Decide(rules, candidates, IPv4, clients, "")
		}
	})
	b.Run("a region", func(b *testing.B) {
		for b.Loop() {
			clear(atlas.partitions)
			atlas.Decide(rules, candidates, IPv4, clients, "")
		}
	})
}
