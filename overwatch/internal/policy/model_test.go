package policy_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/model"
)

var (
	manyWorlds = flag.Int("worlds", 30_000, "number of random worlds of the model test")
	firstWorld = flag.Uint64("world", 0, "seed of the first world of the model test")
)

// world is a name with its rules and backends, and a client. The functions of the reference are written from
// docs/routing.md, with one function for each setting, and without a function of the package other than Distance.
type world struct {
	rules      policy.Rules
	candidates []policy.Candidate
	family     policy.Family
	client     policy.ClientLocation
}

// modelAnswer is the answer that the documentation demands.
type modelAnswer struct {
	outcome policy.Outcome
	ttl     uint32
	shares  map[netip.Addr]float64 // of the answers, with the sum 1
	hashed  bool
}

// The decisions for random rules, backends and clients, by themselves and for a table of many locations, are the
// answers of the reference. All pairs of algorithms and settings occur.
func TestDecide_IsTheModelForAllPairsOfSettings(t *testing.T) {
	worlds := *manyWorlds
	if testing.Short() {
		worlds /= 10
	}
	pairs := map[string]int{}
	for seed := *firstWorld; seed < *firstWorld+uint64(worlds); seed++ {
		random := rand.New(rand.NewPCG(seed, 9))
		w := randomWorld(random)
		clients := []policy.ClientLocation{w.client, randomClient(random), randomClient(random)}
		table, regions := tableOf(clients)
		decisions, class := table.Decide(w.rules, w.candidates, w.family, regions, fmt.Sprint(seed))
		for at, client := range clients {
			w.client = client
			rules := w.rules
			rules.Client, rules.Position = client.Region, client.Position
			want := w.answer()
			alone := policy.Decide(rules, w.candidates, w.family)
			for how, got := range map[string]policy.Decision{"alone": alone, "by location": decisions[class[at]]} {
				if wrong := want.compare(got); wrong != "" {
					t.Fatalf("-world=%d, client %+v, %s: %s\ngot %+v\nwant %+v\n%s", seed, client, how, wrong, got, want, &w)
				}
			}
			if len(alone.Members) == 0 && len(alone.Excluded) != len(w.candidates) {
				t.Fatalf("-world=%d: %d of %d backends without a reason", seed, len(w.candidates)-len(alone.Excluded),
					len(w.candidates))
			}
			for _, setting := range w.settings() {
				pairs[w.rules.Algorithm.Name+" "+setting+" "+string(want.outcome)]++
				for _, other := range w.settings() {
					pairs[setting+" and "+other]++
				}
			}
		}
	}
	if worlds < 20_000 {
		return
	}
	for _, setting := range allSettings {
		for _, algorithm := range policy.Algorithms() {
			for _, outcome := range []policy.Outcome{policy.Success, policy.Fallback} {
				if pair := algorithm.Name + " " + setting + " " + string(outcome); pairs[pair] == 0 {
					t.Errorf("no world has %s", pair)
				}
			}
		}
		for _, other := range allSettings {
			if pairs[setting+" and "+other] == 0 {
				t.Errorf("no world has %s and %s", setting, other)
			}
		}
	}
}

// allSettings are the results of settings.
var allSettings = []string{"fallback_algorithm", "min_healthy", "failback", "geofence"}

// settings returns the settings that the world uses.
func (w *world) settings() (list []string) {
	for name, used := range map[string]bool{
		"fallback_algorithm": w.rules.Fallback != nil,
		"min_healthy":        w.rules.MinHealthy != policy.Minimum{},
		"failback":           len(w.rules.AwaitingFailback) > 0,
		"geofence":           w.rules.Domain.Geofence != "",
	} {
		if used {
			list = append(list, name)
		}
	}
	return list
}

func (w *world) String() string {
	text := fmt.Sprintf("%s, else %s, regions %v, on all down %s, minimum %+v, awaiting %v, geofence %q, family %d\n",
		w.rules.Algorithm, w.rules.Fallback, w.rules.Regions, w.rules.OnAllDown, w.rules.MinHealthy,
		w.rules.AwaitingFailback, w.rules.Domain.Geofence, w.family)
	for _, c := range w.candidates {
		text += fmt.Sprintf("%s in %s: weight %d, share %.1f, may serve %t, forbidden %t, unknown %t, last healthy %s, %v\n",
			c.Address, c.Region, c.Weight, c.Share, c.MayServe, c.Forbidden, c.Unknown, c.LastHealthy, c.Latency)
	}
	return text
}

func (a *modelAnswer) compare(d policy.Decision) string {
	sum := 0
	for _, m := range d.Members {
		sum += m.Parts
	}
	got := map[netip.Addr]float64{}
	for _, m := range d.Members {
		got[m.Address] += float64(m.Parts) / float64(sum)
	}
	switch {
	case a.outcome != d.Outcome:
		return "another outcome"
	case a.ttl != d.TTL:
		return "another TTL"
	case len(got) != len(a.shares):
		return "other addresses"
	case a.hashed != d.Hashed:
		return "client networks are assigned or not"
	}
	for address, share := range a.shares {
		if math.Abs(got[address]-share) > 1e-6 {
			return fmt.Sprintf("%s has %f, want %f", address, got[address], share)
		}
	}
	return ""
}

// tableOf returns a table with the locations of clients, and the regions of the clients by ranking.
func tableOf(clients []policy.ClientLocation) (*policy.LocationTable, []string) {
	positions, rankings, regions := []*policy.Coordinates{}, []uint16{}, []string{}
	for i, c := range clients {
		positions, rankings, regions = append(positions, c.Position), append(rankings, uint16(i)), append(regions, c.Region)
	}
	return policy.NewLocationTable(positions, rankings), regions
}

var modelRegions = []string{"a", "b", "c", "d"}

func oneOf[T any](random *rand.Rand, list ...T) T { return list[random.IntN(len(list))] }

func randomPosition(random *rand.Rand) *policy.Coordinates {
	if random.IntN(4) == 0 {
		return nil
	}
	return &policy.Coordinates{Latitude: random.Float64()*120 - 60, Longitude: random.Float64()*360 - 180}
}

func randomClient(random *rand.Rand) policy.ClientLocation {
	return policy.ClientLocation{Region: oneOf(random, append(modelRegions, "", "e")...), Position: randomPosition(random)}
}

var modelTime = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func randomWorld(random *rand.Rand) world {
	d := new(model.Domain)
	d.SetDefaults()
	d.FailoverThreshold, d.LatencyConfig.MinSamples = 1+random.IntN(3), 2
	d.LatencyConfig.MaxLatencyMs, d.LatencyConfig.ToleranceMs = 80, oneOf(random, 0, 10)
	d.ToleranceKm = oneOf(random, 0.0, 500, 5000)
	w := world{family: policy.Family(random.IntN(2)), client: randomClient(random), rules: policy.Rules{
		Algorithm: oneOf(random, policy.Algorithms()...), TTL: oneOf[uint32](random, 20, 60), Domain: d,
		Regions:     modelRegions[:random.IntN(4)],
		Fallback:    oneOf(random, append(policy.Algorithms(), nil, nil, nil, nil)...),
		OnAllDown:   oneOf(random, policy.ServFail, policy.LastHealthy, policy.All),
		Coordinates: map[string]policy.Coordinates{}, Bias: map[string]int{}, Pools: map[string]*policy.Algorithm{},
		MinHealthy: oneOf(random, policy.Minimum{}, policy.Minimum{}, policy.Minimum{Count: 2}, policy.Minimum{Percent: 60}),
	}}
	for _, region := range modelRegions {
		if at := randomPosition(random); at != nil {
			w.rules.Coordinates[region] = *at
		}
		w.rules.Bias[region] = oneOf(random, 0, 0, 30, -30)
		w.rules.Pools[region] = oneOf(random, append(policy.PoolAlgorithms(), nil, nil)...)
	}
	if len(w.rules.Regions) > 0 && random.IntN(3) == 0 {
		d.Geofence = model.GeofenceStrict
	}
	if random.IntN(3) == 0 {
		w.rules.AwaitingFailback = modelRegions[random.IntN(2) : 1+random.IntN(2)][:1]
	}
	down := random.IntN(5)
	for i := range random.IntN(8) {
		c := policy.Candidate{Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), Region: oneOf(random, modelRegions...),
			Weight: random.IntN(4), Share: oneOf(random, 0, 0.5, 1, 1, 1), MayServe: random.IntN(5) >= down,
			Latency: policy.LatencyMeasurement{Samples: random.IntN(4),
				Smoothed: time.Duration(10+10*random.IntN(9)) * time.Millisecond}}
		if random.IntN(4) == 0 {
			c.Address = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: byte(i)})
		}
		if !c.MayServe {
			c.Forbidden, c.Unknown = random.IntN(5) == 0, random.IntN(5) == 0
			if random.IntN(4) > 0 {
				c.LastHealthy = modelTime.Add(-time.Duration(random.IntN(200)) * time.Second)
			}
		}
		w.candidates = append(w.candidates, c)
	}
	slices.SortFunc(w.candidates, func(a, b policy.Candidate) int { return a.Address.Compare(b.Address) })
	return w
}

type backends []policy.Candidate

func (list backends) only(keep func(policy.Candidate) bool) (kept backends) {
	for _, c := range list {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// prefer returns the backends for which keep is true, or all if there are none.
func (list backends) prefer(keep func(policy.Candidate) bool) backends {
	if kept := list.only(keep); len(kept) > 0 {
		return kept
	}
	return list
}

func (list backends) in(region string) backends {
	return list.only(func(c policy.Candidate) bool { return c.Region == region })
}

func mayServe(c policy.Candidate) bool { return c.MayServe }

// answer returns the answer of the documentation to the client.
func (w *world) answer() modelAnswer {
	all, fenced := w.insideGeofence(w.candidates)
	ofFamily := func(c policy.Candidate) bool { return c.Address.Is4() == (w.family == policy.IPv4) }
	a := modelAnswer{outcome: policy.Success, ttl: w.rules.TTL}
	in := all.only(mayServe)
	if need := w.minHealthy(); len(backends(w.candidates).only(mayServe)) < need || len(in) == 0 {
		if fenced {
			need = 1
		}
		a.outcome, a.ttl = policy.Fallback, min(w.rules.TTL, 30)
		if in = w.onAllDown(all, need); len(in) == 0 && (len(all) == 0 || len(all.only(ofFamily)) > 0) {
			return modelAnswer{outcome: policy.NoHealthyBackend, ttl: w.rules.TTL}
		}
	}
	if in = in.only(ofFamily); len(in) == 0 {
		return modelAnswer{outcome: policy.NoData, ttl: w.rules.TTL}
	}
	in = w.afterFailback(all.only(ofFamily), in)
	in = in.prefer(func(c policy.Candidate) bool { return c.Weight > 0 })
	in = in.prefer(func(c policy.Candidate) bool { return c.Share > 0 })
	algorithm := w.rules.Algorithm.Name
	if w.rules.Fallback != nil && w.lacksData(algorithm, in) {
		algorithm = w.rules.Fallback.Name
	}
	regions, another := w.regionsFor(algorithm, in, backends(w.candidates).only(ofFamily))
	if regions != nil {
		if another && !fenced && a.outcome == policy.Success {
			a.outcome = policy.FailedOver
		}
		in = in.only(func(c policy.Candidate) bool { return slices.Contains(regions, c.Region) })
		algorithm = "weighted"
		if pool := w.rules.Pools[regions[0]]; pool != nil {
			algorithm = pool.Name
		}
	}
	if algorithm == "latency" {
		in = w.fastest(in)
	}
	a.shares = w.shares(algorithm, in)
	a.hashed = algorithm == "client-hash" && len(a.shares) > 1
	return a
}

// insideGeofence implements `geofence: strict`.
func (w *world) insideGeofence(all backends) (inside backends, fenced bool) {
	if w.rules.Domain.Geofence == "strict" && slices.Contains(w.rules.Regions, w.client.Region) {
		return all.in(w.client.Region), true
	}
	return all, false
}

// minHealthy implements `min_healthy`, which counts the backends of all regions.
func (w *world) minHealthy() int {
	known := backends(w.candidates).only(func(c policy.Candidate) bool { return !c.Unknown })
	percent := int(math.Ceil(float64(len(known)*w.rules.MinHealthy.Percent) / 100))
	return max(w.rules.MinHealthy.Count, percent, 1)
}

// onAllDown implements `on_all_down`.
func (w *world) onAllDown(all backends, need int) backends {
	in := all.only(func(c policy.Candidate) bool { return !c.Forbidden })
	switch w.rules.OnAllDown {
	case policy.All:
		return in
	case policy.LastHealthy:
	default:
		return nil
	}
	served := func(at time.Time) backends { // at a time
		return in.only(func(c policy.Candidate) bool {
			return c.MayServe || !c.LastHealthy.IsZero() && !c.LastHealthy.Before(at)
		})
	}
	latest := time.Time{}
	for _, c := range in {
		if !c.MayServe && !c.LastHealthy.IsZero() && c.LastHealthy.After(latest) && len(served(c.LastHealthy)) >= need {
			latest = c.LastHealthy
		}
	}
	if latest.IsZero() { // never enough: all that ever served
		return served(latest)
	}
	return served(latest.Add(-time.Minute))
}

// afterFailback implements `failback`: regions that await it serve only if they can serve better than all others.
func (w *world) afterFailback(all, in backends) backends {
	awaits := func(c policy.Candidate) bool { return slices.Contains(w.rules.AwaitingFailback, c.Region) }
	rank := func(list backends) (best int) { // 3: a region has enough, 2: one serves, 1: one has backends
		for _, c := range list {
			serving := len(in.in(c.Region).only(func(c policy.Candidate) bool { return c.MayServe && c.Share > 0 }))
			need := 1
			if w.rules.Algorithm.Name == "failover" {
				need = min(w.rules.Domain.FailoverThreshold, len(all.in(c.Region)))
			}
			switch {
			case serving >= need:
				best = max(best, 3)
			case serving > 0:
				best = max(best, 2)
			default:
				best = max(best, 1)
			}
		}
		return best
	}
	others := in.only(func(c policy.Candidate) bool { return !awaits(c) })
	if rank(others) >= rank(in.only(awaits)) {
		return others
	}
	return in
}

// measured reports whether the positions of the client and of a region of the backends are known.
func (w *world) measured(in backends) bool {
	return w.client.Position != nil && slices.ContainsFunc(in, func(c policy.Candidate) bool {
		_, known := w.rules.Coordinates[c.Region]
		return known
	})
}

func (w *world) qualifies(c policy.Candidate) bool {
	return c.Latency.Samples >= w.rules.Domain.LatencyConfig.MinSamples &&
		c.Latency.Smoothed <= time.Duration(w.rules.Domain.LatencyConfig.MaxLatencyMs)*time.Millisecond
}

// lacksData reports whether `fallback_algorithm` applies.
func (w *world) lacksData(algorithm string, in backends) bool {
	switch algorithm {
	case "geolocation":
		return w.client.Region == ""
	case "proximity":
		return !w.measured(in)
	case "latency":
		return len(in.only(w.qualifies)) == 0
	}
	return false
}

// regionsFor returns the regions that an algorithm selects, the first of them first, or nil. another reports that the
// preferred region does not answer. all contains the backends of the family regardless of health.
func (w *world) regionsFor(algorithm string, in, all backends) (regions []string, another bool) {
	order := w.ordered(in)
	switch {
	case algorithm == "failover":
		enough := func(region string) bool { return len(in.in(region)) >= w.rules.Domain.FailoverThreshold }
		region := order[max(slices.IndexFunc(order, enough), 0)]
		preferred := slices.IndexFunc(w.rules.Regions, func(r string) bool { return len(all.in(r)) > 0 })
		return []string{region}, preferred >= 0 && w.rules.Regions[preferred] != region
	case algorithm == "proximity" && w.measured(in):
		near := w.byDistance(in)
		return near, near[0] != w.byDistance(all)[0]
	case algorithm == "geolocation", algorithm == "proximity":
		region := w.nearestTo(order)
		return []string{region}, region != w.client.Region && len(all.in(w.client.Region)) > 0
	}
	return nil, false
}

// ordered returns the regions of backends: those of the domain in its order, then the others by name.
func (w *world) ordered(in backends) (order []string) {
	names := []string{}
	for _, c := range in {
		names = append(names, c.Region)
	}
	slices.Sort(names)
	for _, region := range append(slices.Clone(w.rules.Regions), names...) {
		if slices.Contains(names, region) && !slices.Contains(order, region) {
			order = append(order, region)
		}
	}
	return order
}

// nearestTo returns the client's region; otherwise the nearest region with known positions; otherwise the first.
func (w *world) nearestTo(order []string) string {
	if slices.Contains(order, w.client.Region) {
		return w.client.Region
	}
	best, least := order[0], math.Inf(1)
	from, placed := w.rules.Coordinates[w.client.Region]
	for _, region := range order {
		if to, known := w.rules.Coordinates[region]; placed && known && policy.Distance(from, to) < least {
			best, least = region, policy.Distance(from, to)
		}
	}
	return best
}

// byDistance returns the nearest region and the others within the tolerance, including the bias.
func (w *world) byDistance(in backends) []string {
	far := func(region string) float32 {
		to, known := w.rules.Coordinates[region]
		if !known {
			return float32(math.Inf(1))
		}
		way := float32(policy.Distance(*w.client.Position, to))
		if bias := float32(w.rules.Bias[region]) / 100; bias < 0 {
			return way / (1 + bias)
		} else {
			return way * (1 - bias)
		}
	}
	names := []string{}
	for _, c := range in {
		if !slices.Contains(names, c.Region) {
			names = append(names, c.Region)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a, b)) })
	return slices.DeleteFunc(names, func(region string) bool {
		return region != names[0] && !(far(region) <= far(names[0])+float32(w.rules.Domain.ToleranceKm)) ||
			region != names[0] && math.IsInf(float64(far(region)), 1)
	})
}

// fastest implements `latency`: the backends within a tenth and the tolerance of the fastest.
func (w *world) fastest(in backends) backends {
	fit := in.only(w.qualifies)
	if len(fit) == 0 {
		return in
	}
	best := fit[0].Latency.Smoothed
	for _, c := range fit {
		best = min(best, c.Latency.Smoothed)
	}
	slack := time.Duration(w.rules.Domain.LatencyConfig.ToleranceMs) * time.Millisecond
	return fit.only(func(c policy.Candidate) bool { return c.Latency.Smoothed <= best+best/10+slack })
}

// shares returns the share of each address.
func (w *world) shares(algorithm string, in backends) map[netip.Addr]float64 {
	shares, sum := map[netip.Addr]float64{}, 0.0
	for _, c := range in {
		weight := float64(max(c.Weight, 1))
		if algorithm == "round-robin" {
			weight = 1
		}
		weight *= max(c.Share, 0.01)
		shares[c.Address] += weight
		sum += weight
	}
	for address := range shares {
		shares[address] /= sum
	}
	return shares
}
