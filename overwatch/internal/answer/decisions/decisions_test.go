package decisions // inside: it uses flows

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

var client = netip.MustParseAddr("192.0.2.99")

// input returns the decision input of a domain with 10.0.0.1 in eu and 10.0.0.2 in us, for clients in none, eu and us.
func input(number uint32) *policy.DecisionInput {
	return &policy.DecisionInput{
		Name: fmt.Sprintf("d%d.test.", number), Number: number, Clients: []string{"", "eu", "us"}, Answers: 1,
		Rules: &policy.Rules{Algorithm: policy.Weighted, TTL: 30},
		Candidates: []policy.Candidate{
			{Address: netip.MustParseAddr("10.0.0.1"), Region: "eu", Weight: 1, Share: 1, MayServe: true},
			{Address: netip.MustParseAddr("10.0.0.2"), Region: "us", Weight: 1, Share: 1, MayServe: true},
		},
	}
}

func note(s *SocketRecorder, b *policy.DecisionInput, region, lead uint16) {
	s.RecordAnswer(s.StartSample(), &zone.Selection{Input: b, Region: geo.RegionID(region), Lead: lead}, client)
}

func TestDecisions_OneInSoManyIsKeptAndAReloadCountsAtOnce(t *testing.T) {
	r := New(3, nil)
	s, b := r.NewSocketRecorder(), input(7)
	for range 9 {
		note(s, b, 1, 1)
	}
	at := fmt.Sprint(r.started.Unix())
	if got := r.Decisions(); len(got) != 3 || got[0].ID != at+"-0-9" || got[2].ID != at+"-0-3" {
		t.Fatalf("one in 3 of 9: %+v", got)
	}
	d := r.Decisions()[0]
	decision, selected := d.Repeat()
	if decision.Outcome != policy.Success || selected.Region != "us" || d.Client.String() != "192.0.2.0/24" ||
		d.Selection.Region != 1 {
		t.Errorf("%+v, %+v", d, selected)
	}
	r.SetSampleInterval(0)
	note(s, b, 1, 1)
	r.SetSampleInterval(1)
	note(s, b, 1, zone.NoLead)
	if got := r.Decisions(); len(got) != 4 || got[0].Selection.Lead != zone.NoLead {
		t.Fatalf("none, then each: %+v", got)
	}
	if _, selected := newest(r); selected != nil {
		t.Errorf("an answer without an address has %+v", selected)
	}
}

func TestDecisions_TheOldestGoAndIdsStayTrue(t *testing.T) {
	r := New(1, nil)
	s := r.NewSocketRecorder()
	for i := range RingSize + 10 {
		note(s, input(uint32(i+1)), 0, 0)
	}
	all := r.Decisions()
	if len(all) != RingSize || all[0].Selection.Input.Number != RingSize+10 ||
		all[RingSize-1].Selection.Input.Number != 11 {
		t.Fatalf("%d are kept, from %d to %d", len(all), all[len(all)-1].Selection.Input.Number,
			all[0].Selection.Input.Number)
	}
	for _, c := range []struct {
		id   string
		want uint32 // 0: missing
	}{
		{"0-11", 11}, {fmt.Sprint("0-", RingSize+10), RingSize + 10}, {"0-10", 0}, {"0-0", 0},
		{fmt.Sprint("0-", RingSize+11), 0},
		{"1-11", 0}, {"-1-11", 0}, {"0-11x", 0}, {"00-11", 0}, {"", 0}, {"0-18446744073709551615", 0},
	} {
		if d, ok := r.Decision(fmt.Sprint(r.started.Unix(), "-", c.id)); ok != (c.want > 0) || ok && d.Selection.Input.Number != c.want {
			t.Errorf("%q: %t, %d", c.id, ok, d.Selection.Input.Number)
		}
	}
}

func TestDecisions_OfOneTimeAreNewestFirst(t *testing.T) {
	at := time.Now()
	r := New(1, func() time.Time { return at })
	s := r.NewSocketRecorder()
	for i := range 11 {
		note(s, input(uint32(i+1)), 0, 0)
	}
	for i, d := range r.Decisions() {
		if want := uint32(11 - i); d.Selection.Input.Number != want {
			t.Errorf("place %d has decision %d, want %d", i, d.Selection.Input.Number, want)
		}
	}
}

func TestNetwork_KeepsNoMoreOfAClientThanPromised(t *testing.T) {
	for address, want := range map[string]string{
		"203.0.113.77": "203.0.113.0/24", "::ffff:203.0.113.77": "203.0.113.0/24", "2001:db8:1:2:3::4": "2001:db8:1::/48",
		"255.255.255.255":       "255.255.255.0/24",
		"ffff:ffff:ffff:ffff::": "ffff:ffff:ffff::/48", "::": "::/48", "0.0.0.0": "0.0.0.0/24",
	} {
		if got := clientNetwork(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestFlows_CountWhoWasSentWhere(t *testing.T) {
	r := New(0, nil)
	one, two, b := r.NewSocketRecorder(), r.NewSocketRecorder(), input(1)
	for range 10 {
		note(one, b, 1, 0)
		note(two, b, 1, 0)
	}
	note(one, b, 2, 1)
	note(one, b, 0, zone.NoLead)
	want := []FlowCount{{Flow: Flow{"d1.test", "eu", "eu"}, Count: 20}, {Flow: Flow{"d1.test", "us", "us"}, Count: 1}}
	got := r.Flows(time.Time{}, time.Time{})
	for i := range got {
		got[i].Latest = time.Time{}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	totals := r.Totals()
	if totals.Decisions != 22 || totals.ByAlgorithm[policy.Weighted.Name] != 22 || totals.ByRegion["eu"] != 20 ||
		totals.ByOutcome[policy.Success] != 22 || totals.GeoHits != 0 {
		t.Errorf("%+v", totals)
	}
}

// Answers are counted by domain, by the region of the first address and by outcome, even without an address. The
// counters of a domain and of all domains are bounded, and no answer is lost.
func TestAnswers_CountByDomainRegionAndOutcome(t *testing.T) {
	r := New(0, nil)
	s, b := r.NewSocketRecorder(), input(1)
	for range 3 {
		note(s, b, 1, 0)
	}
	note(s, b, 2, 1)
	note(s, b, 0, zone.NoLead)
	note(s, input(2), 1, 1)
	want := map[AnswerKey]uint64{
		{"d1.test", "eu", policy.Success}: 3, {"d1.test", "us", policy.Success}: 1, {"d1.test", "", policy.Success}: 1,
		{"d2.test", "us", policy.Success}: 1,
	}
	if got := maps.Collect(r.Answers()); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i := range 2 * maxDomainCounters {
		*r.answers.counterOf(AnswerKey{"d1.test", fmt.Sprint("made up ", i), policy.Success})++
	}
	ofDomain, sum := 0, uint64(0)
	for key, count := range r.Answers() {
		if key.Domain == "d1.test" {
			ofDomain, sum = ofDomain+1, sum+count
		}
	}
	if ofDomain != maxDomainCounters || sum != 5+2*maxDomainCounters {
		t.Errorf("%d counters of one domain with %d answers", ofDomain, sum)
	}
	for i := range maxAnswerCounters {
		r.answers.counterOf(AnswerKey{Domain: fmt.Sprint(i)})
	}
	note(s, input(3), 1, 0)
	note(s, b, 1, 0)
	if got := maps.Collect(r.Answers()); got[AnswerKey{Outcome: policy.Success}] != 1 ||
		got[AnswerKey{"d1.test", "eu", policy.Success}] != 4 {
		t.Errorf("after too many counters: %v", got)
	}
}

// A decision that is no longer repeated does not retain dropped counts.
func TestFlows_OldCountsAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(0, nil)
		s := r.NewSocketRecorder()
		note(s, input(1), 1, 0)
		r.Flows(time.Time{}, time.Time{})
		old := r.flows.buckets[0]
		time.Sleep(FlowSpan + 2*FlowBucket)
		note(s, input(2), 1, 0)
		r.Flows(time.Time{}, time.Time{})
		if slices.Contains(r.flows.buckets, old) || old.counts != nil {
			t.Errorf("%d counts of a day ago are kept", len(old.counts))
		}
	})
}

func TestFlows_AreBoundedInTimeAndNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(0, nil)
		s := r.NewSocketRecorder()
		count := func(flow Flow) { r.flows.tallyOf(r.flows.currentBucket(time.Now()), flow).count++ }
		began := time.Now().Truncate(FlowBucket)
		sums := func(start, end time.Time) (sum uint64) {
			for _, f := range r.Flows(start, end) {
				sum += f.Count
			}
			return sum
		}
		for range 3 {
			note(s, input(1), 1, 0)
			if sums(time.Time{}, time.Time{}) == 0 {
				t.Fatal("nothing is counted")
			}
			time.Sleep(FlowBucket)
		}
		if all, second := sums(time.Time{}, time.Time{}), sums(began.Add(FlowBucket), began.Add(2*FlowBucket)); all != 3 ||
			second != 1 {
			t.Errorf("%d in all, %d in the second bucket", all, second)
		}
		time.Sleep(FlowSpan + FlowBucket)
		if sums(time.Time{}, time.Time{}) != 0 {
			t.Error("what is older than a day is still there")
		}
		for i := range MaxFlows + 100 {
			count(Flow{Domain: fmt.Sprint(i)})
		}
		if all := sums(time.Time{}, time.Time{}); all != MaxFlows+100 || r.flows.size > MaxFlows+1 {
			t.Errorf("%d were counted in %d counts", all, r.flows.size)
		}
		time.Sleep(FlowBucket)
		count(Flow{Domain: "new"})
		if len(r.flows.buckets) != 1 || r.flows.size != 1 {
			t.Errorf("the full bucket of before was not given up: %d counts", r.flows.size)
		}
	})
}

// The recorder loses no count and counts nothing twice while the counts are read.
func TestRecorder_CountsAllWhileItIsRead(t *testing.T) {
	r := New(2, nil)
	ctx, stop := t.Context(), make(chan struct{})
	go func() { _ = r.Run(ctx) }()
	var reading, noting sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				for _, d := range r.Decisions() {
					if d.Selection.Input.Number%2 != uint32(d.Selection.Lead) {
						t.Errorf("a torn decision: %+v", d)
						return
					}
				}
				r.Flows(time.Time{}, time.Time{})
			}
		}
	})
	const sockets, answers = 2, 40_000
	for range sockets {
		s := r.NewSocketRecorder()
		noting.Go(func() {
			for i := range answers {
				note(s, input(uint32(i)), 1, uint16(i%2))
			}
		})
	}
	noting.Wait()
	close(stop)
	reading.Wait()
	if got := r.Totals().Decisions + r.Missed(); got != sockets*answers {
		t.Errorf("%d were counted, %d noted", got, sockets*answers)
	}
}

func TestNote_AllocatesNothing(t *testing.T) {
	r := New(1, nil)
	s, b := r.NewSocketRecorder(), input(1)
	if n := testing.AllocsPerRun(1000, func() { note(s, b, 1, 0) }); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
}

// The benchmark records answers of few and of many names, which begin with each of two addresses. It sums the counts as
// often as in production.
func BenchmarkNote(b *testing.B) {
	for _, c := range []struct{ sample, names int }{{0, 1}, {128, 1}, {0, 100_000}} {
		b.Run(fmt.Sprintf("one in %d of %d names", c.sample, c.names), func(b *testing.B) {
			r := New(c.sample, nil)
			s, bases := r.NewSocketRecorder(), make([]*policy.DecisionInput, c.names)
			for i := range bases {
				bases[i] = input(uint32(i + 1))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				note(s, bases[i*7919%c.names], 1, uint16(i%2))
				if i%2_000_000 == 1_999_999 {
					r.Totals()
				}
			}
		})
	}
}

// The recorder repeats each decision once instead of at each sum, and limits the number of stored decisions.
func TestRecorder_RemembersDecisionsWithinABound(t *testing.T) {
	r := New(0, nil)
	s, b := r.NewSocketRecorder(), input(1)
	note(s, b, 1, 0)
	first := r.Totals()
	b.Candidates = nil // another decision would have no address
	note(s, b, 1, 0)
	if again := r.Totals(); first.ByRegion["eu"] != 1 || again.ByRegion["eu"] != 2 ||
		again.ByOutcome[policy.Success] != 2 {
		t.Errorf("%+v, then %+v", first, again)
	}
	b = input(1)
	for i := range maxResults {
		r.results[resultKey{number: uint32(i + 2)}] = nil
	}
	note(s, b, 2, 0)
	if r.Totals(); len(r.results) != 1 {
		t.Errorf("%d results are remembered", len(r.results))
	}
	note(s, b, 1, 1)
	if got := r.Totals(); got.ByRegion["us"] != 1 || got.Decisions != 4 {
		t.Errorf("after all were forgotten: %+v", got)
	}
}

// Totals of answers that depend on the location of the client use this location. Without the location, this answer
// would belong to the fallback.
func TestTotals_AreOfTheClientsSpot(t *testing.T) {
	r, b := New(0, nil), input(1)
	b.Rules = &policy.Rules{
		Algorithm: policy.Proximity, Fallback: policy.RoundRobin, TTL: 30,
		Coordinates: map[string]policy.Coordinates{"eu": {}, "us": {}},
	}
	b.UsesRegion, b.Locations = true, []policy.ClientLocation{{}, {Region: "us", Position: new(policy.Coordinates)}}
	s := r.NewSocketRecorder()
	s.RecordAnswer(s.StartSample(), &zone.Selection{Input: b, Region: 2, Location: 1}, client)
	if got := r.Totals().ByAlgorithm; len(got) != 1 || got[policy.Proximity.String()] != 1 {
		t.Errorf("%v", got)
	}
}

// The recorder counts at most maxKeys kinds of answers between two sums, and counts new kinds again after the sum.
func TestRecorder_CountsWithinABound(t *testing.T) {
	r := New(0, nil)
	s := r.NewSocketRecorder()
	for i := range maxKeys {
		s.counts[statKey{leads: uint16(i), variant: uint16(i >> 16)}] = stat{}
	}
	note(s, input(1), 1, 0)
	if missed, counted := r.Missed(), r.Totals().Decisions; missed != 1 || counted != 0 {
		t.Errorf("%d missed, %d counted", missed, counted)
	}
	note(s, input(1), 1, 0)
	if missed, counted := r.Missed(), r.Totals().Decisions; missed != 1 || counted != 1 {
		t.Errorf("after a sum: %d missed, %d counted", missed, counted)
	}
}

// The benchmark sums the answers of many names, each of which uses both of its regions. The names are counted for the
// first time, or were counted before.
func BenchmarkSum(b *testing.B) {
	const names = 100_000
	bases := make([]*policy.DecisionInput, names)
	for i := range bases {
		bases[i] = input(uint32(i + 1))
	}
	for _, known := range []bool{false, true} {
		b.Run(fmt.Sprint("known ", known), func(b *testing.B) {
			var r *Recorder
			for b.Loop() {
				b.StopTimer()
				if r == nil || !known {
					r = New(0, nil)
					r.NewSocketRecorder()
				}
				for i := range 2 * names {
					note(r.sockets[0], bases[i/2], 1, uint16(i%2))
				}
				b.StartTimer()
				r.Totals()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*names), "ns/name")
		})
	}
}

func newest(r *Recorder) (policy.Decision, *policy.Candidate) {
	d := r.Decisions()[0]
	return d.Repeat()
}
