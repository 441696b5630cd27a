package policy // inside: it looks at candidates and name

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/model"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// parseCandidate parses "address region weight" and then any of: down, unknown, taken-out, share=0.5, ms=20/3 (latency
// and samples), lost=30s (time between the last healthy state and noon).
func parseCandidate(t *testing.T, line string) Candidate {
	t.Helper()
	fields := strings.Fields(line)
	c := Candidate{Address: netip.MustParseAddr(fields[0]), Region: fields[1], Share: 1, MayServe: true}
	fmt.Sscan(fields[2], &c.Weight)
	for _, word := range fields[3:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "down":
			c.MayServe = false
		case "unknown":
			c.Unknown, c.MayServe = true, false
		case "taken-out":
			c.MayServe, c.Forbidden = false, true
		case "share":
			fmt.Sscan(value, &c.Share)
		case "ms": // smoothed latency, and "/" samples
			var ms int
			fmt.Sscanf(value, "%d/%d", &ms, &c.Latency.Samples)
			c.Latency.Smoothed = time.Duration(ms) * time.Millisecond
		case "lost":
			ago, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			c.MayServe, c.LastHealthy = false, noon.Add(-ago)
		}
	}
	return c
}

func describe(d Decision) string {
	words := []string{string(d.Outcome)}
	for _, due := range d.Members {
		words = append(words, fmt.Sprintf("%s=%d", due.Address, due.Parts))
	}
	return strings.Join(words, " ")
}

func TestDecide(t *testing.T) {
	three := []string{"10.0.0.1 eu 100", "10.0.0.2 eu 50", "10.0.0.3 us 100"}
	cases := []struct {
		name       string
		algorithm  *Algorithm
		onAllDown  OnAllDown
		threshold  int
		candidates []string
		v4, v6     string
	}{
		{"round-robin serves alike", RoundRobin, ServFail, 0, three, "success 10.0.0.1=100 10.0.0.2=100 10.0.0.3=100",
			"no_data"},
		{"weighted serves by weight", Weighted, ServFail, 0, three, "success 10.0.0.1=10000 10.0.0.2=5000 10.0.0.3=10000",
			"no_data"},
		{"down is out", Weighted, ServFail, 0, []string{"10.0.0.1 eu 1 down", "10.0.0.2 eu 1"}, "success 10.0.0.2=100",
			"no_data"},
		{"weight 0 waits", Weighted, ServFail, 0, []string{"10.0.0.1 eu 0", "10.0.0.2 eu 1"}, "success 10.0.0.2=100",
			"no_data"},
		{"weight 0 waits in round-robin too", RoundRobin, ServFail, 0, []string{"10.0.0.1 eu 0", "10.0.0.2 eu 1"},
			"success 10.0.0.2=100", "no_data"},
		{"weight 0 serves when the others are down", Weighted, ServFail, 0, []string{"10.0.0.1 eu 0", "10.0.0.2 eu 1 down"},
			"success 10.0.0.1=100", "no_data"},
		{"bleeding lowers the share", Weighted, ServFail, 0, []string{"10.0.0.1 eu 100 share=0.1", "10.0.0.2 eu 100"},
			"success 10.0.0.1=1000 10.0.0.2=10000", "no_data"},
		{"drained waits", Weighted, ServFail, 0, []string{"10.0.0.1 eu 1 share=0", "10.0.0.2 eu 1"}, "success 10.0.0.2=100",
			"no_data"},
		{"all drained share", Weighted, ServFail, 0, []string{"10.0.0.1 eu 1 share=0", "10.0.0.2 eu 1 share=0"},
			"success 10.0.0.1=1 10.0.0.2=1", "no_data"},
		{"ports of one address add up", Weighted, ServFail, 0, []string{"10.0.0.1 eu 1", "10.0.0.1 eu 2", "10.0.0.2 eu 1"},
			"success 10.0.0.1=300 10.0.0.2=100", "no_data"},
		{"only IPv6 is no error for IPv4", Weighted, ServFail, 0, []string{"2001:db8::1 eu 1"}, "no_data",
			"success 2001:db8::1=100"},
		{"IPv4 down while IPv6 serves", Weighted, All, 0, []string{"10.0.0.1 eu 1 down", "2001:db8::1 eu 1"}, "no_data",
			"success 2001:db8::1=100"},

		{"failover stays in the first region", Failover, ServFail, 1, three, "success 10.0.0.1=10000 10.0.0.2=5000",
			"no_data"},
		{"failover goes on", Failover, ServFail, 1, []string{"10.0.0.1 eu 1 down", "10.0.0.2 us 1"}, "failover 10.0.0.2=100",
			"no_data"},
		{"failover goes on below the threshold", Failover, ServFail, 2,
			[]string{"10.0.0.1 eu 1", "10.0.0.2 us 1", "10.0.0.3 us 1"}, "failover 10.0.0.2=100 10.0.0.3=100", "no_data"},
		{"failover takes the first if none has enough", Failover, ServFail, 3, []string{"10.0.0.1 eu 1", "10.0.0.2 us 1"},
			"success 10.0.0.1=100", "no_data"},
		{"failover from a region that has none of the family is none", Failover, ServFail, 1,
			[]string{"10.0.0.1 eu 1", "10.0.0.2 us 1", "2001:db8::2 us 1"}, "success 10.0.0.1=100", "success 2001:db8::2=100"},
		{"failover between regions of a family", Failover, ServFail, 1,
			[]string{"10.0.0.1 eu 1", "2001:db8::1 eu 1 down", "2001:db8::2 us 1"}, "success 10.0.0.1=100",
			"failover 2001:db8::2=100"},
		{"failover reaches regions that are not listed", Failover, ServFail, 1,
			[]string{"10.0.0.1 eu 1 down", "10.0.0.2 mars 1"}, "failover 10.0.0.2=100", "no_data"},

		{"no backend at all is an error", RoundRobin, All, 0, nil, "no_healthy_backend", "no_healthy_backend"},
		{"all down is an error", RoundRobin, ServFail, 0, []string{"10.0.0.1 eu 1 down"}, "no_healthy_backend", "no_data"},
		{"all down, all answer", RoundRobin, All, 0, []string{"10.0.0.1 eu 1 down", "10.0.0.2 eu 1 down"},
			"fallback 10.0.0.1=100 10.0.0.2=100", "no_data"},
		{"an operator's word stands", RoundRobin, All, 0, []string{"10.0.0.1 eu 1 taken-out", "10.0.0.2 eu 1 down"},
			"fallback 10.0.0.2=100", "no_data"},
		{"all taken out is an error", RoundRobin, All, 0, []string{"10.0.0.1 eu 1 taken-out"}, "no_healthy_backend",
			"no_data"},
		{"the set that was healthy last", Weighted, LastHealthy, 0,
			[]string{"10.0.0.1 eu 1 lost=10s", "10.0.0.2 eu 1 lost=40s", "10.0.0.3 eu 1 lost=10m"},
			"fallback 10.0.0.1=100 10.0.0.2=100", "no_data"},
		{"lost a minute before the last, and a moment more", Weighted, LastHealthy, 0,
			[]string{"10.0.0.1 eu 1 lost=10s", "10.0.0.2 eu 1 lost=70s", "10.0.0.3 eu 1 lost=70001ms"},
			"fallback 10.0.0.1=100 10.0.0.2=100", "no_data"},
		{"none was ever healthy", Weighted, LastHealthy, 0, []string{"10.0.0.1 eu 1 down"}, "no_healthy_backend", "no_data"},
		{"the last healthy were of the other family", Weighted, LastHealthy, 0,
			[]string{"10.0.0.1 eu 1 down", "2001:db8::1 eu 1 lost=1s"}, "no_data", "fallback 2001:db8::1=100"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var candidates []Candidate
			for _, line := range c.candidates {
				candidates = append(candidates, parseCandidate(t, line))
			}
			rules := Rules{Algorithm: c.algorithm, Regions: []string{"eu", "us"},
				Domain:    &model.Domain{FailoverThreshold: c.threshold},
				OnAllDown: c.onAllDown, TTL: 60}
			for family, want := range []string{c.v4, c.v6} {
				d := Decide(rules, candidates, Family(family))
				if got := describe(d); got != want {
					t.Errorf("family %d: %s, want %s", family, got, want)
				}
				if d.Outcome == Fallback && d.TTL > MaxFallbackTTL {
					t.Errorf("a last resort with TTL %d", d.TTL)
				}
				if len(d.Members) == 0 && len(d.Excluded) != len(candidates) {
					t.Errorf("%d of %d candidates without a reason", len(candidates)-len(d.Excluded), len(candidates))
				}
			}
		})
	}
}

func TestDecide_TooFewHealthyGoToTheLastResort(t *testing.T) {
	half := []string{"10.0.0.1 eu 1", "10.0.0.2 eu 1", "10.0.0.3 eu 1 lost=10m", "10.0.0.4 us 1 lost=20m"}
	one := []string{"10.0.0.1 eu 1", "10.0.0.2 eu 1 lost=10m", "10.0.0.3 eu 1 lost=10m30s", "10.0.0.4 us 1 lost=20m",
		"10.0.0.5 us 1 down"}
	cases := []struct {
		name, minimum string
		onAllDown     OnAllDown
		candidates    []string
		want          string
	}{
		{"as many as asked for", "2", ServFail, half, "success 10.0.0.1=100 10.0.0.2=100"},
		{"the part that is asked for", "50%", ServFail, half, "success 10.0.0.1=100 10.0.0.2=100"},
		{"a part is rounded up", "51%", ServFail, half, "no_healthy_backend"},
		{"one too few is an error", "3", ServFail, half, "no_healthy_backend"},
		{"one too few, all answer", "3", All, half, "fallback 10.0.0.1=100 10.0.0.2=100 10.0.0.3=100 10.0.0.4=100"},
		{"and not the one that was taken out", "2", All,
			[]string{"10.0.0.1 eu 1", "10.0.0.2 eu 1 taken-out", "10.0.0.3 eu 1 down"}, "fallback 10.0.0.1=100 10.0.0.3=100"},
		{"those that were enough last, however long ago", "2", LastHealthy, one,
			"fallback 10.0.0.1=100 10.0.0.2=100 10.0.0.3=100"},
		{"all that ever were, where that is too few", "5", LastHealthy, one,
			"fallback 10.0.0.1=100 10.0.0.2=100 10.0.0.3=100 10.0.0.4=100"},
		{"nobody else ever was", "2", LastHealthy, []string{"10.0.0.1 eu 1", "10.0.0.2 eu 1 down"}, "fallback 10.0.0.1=100"},
		{"ones of which nothing is known make the part no greater", "100%", ServFail,
			[]string{"10.0.0.1 eu 1", "10.0.0.2 eu 1 unknown", "10.0.0.3 eu 1 unknown"}, "success 10.0.0.1=100"},
		{"both families count", "2", ServFail, []string{"10.0.0.1 eu 1", "2001:db8::1 eu 1"}, "success 10.0.0.1=100"},
		{"no minimum", "", ServFail, one, "success 10.0.0.1=100"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var candidates []Candidate
			for _, line := range c.candidates {
				candidates = append(candidates, parseCandidate(t, line))
			}
			minimum, ok := ParseMinimum(c.minimum)
			if !ok {
				t.Fatal(c.minimum)
			}
			d := Decide(Rules{Algorithm: Weighted, OnAllDown: c.onAllDown, MinHealthy: minimum, TTL: 60}, candidates, IPv4)
			if got := describe(d); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if d.Outcome == NoHealthyBackend && (len(d.Excluded) != len(candidates) || d.Excluded[0].Reason != TooFewServe) {
				t.Errorf("excluded %v: want all, the first because they are too few", d.Excluded)
			}
		})
	}
}

func TestParseMinimum_RefusesWhatIsNeitherNumberNorPart(t *testing.T) {
	for _, text := range []string{"0", "-1", "1001", "0%", "101%", "half", "2.5", " 2", "%"} {
		if m, ok := ParseMinimum(text); ok {
			t.Errorf("%q is taken for %+v", text, m)
		}
	}
}

func TestDecide_SaysWhyACandidateDoesNotAnswer(t *testing.T) {
	candidates := []Candidate{
		parseCandidate(t, "10.0.0.1 eu 1 down"), parseCandidate(t, "2001:db8::1 eu 1"), parseCandidate(t, "10.0.0.2 eu 0"),
		parseCandidate(t, "10.0.0.3 eu 1 share=0"), parseCandidate(t, "10.0.0.4 us 1"), parseCandidate(t, "10.0.0.5 eu 1"),
	}
	d := Decide(Rules{Algorithm: Failover, Regions: []string{"eu", "us"}, TTL: 60}, candidates, IPv4)
	want := []Excluded{{0, MayNotServe}, {1, OtherFamily}, {2, ZeroWeight}, {3, Drained}, {4, OtherRegion}}
	if fmt.Sprint(d.Excluded) != fmt.Sprint(want) || d.Region != "eu" {
		t.Errorf("excluded %v in region %q, want %v", d.Excluded, d.Region, want)
	}
}

// TestChoose_IsDecideWithoutTheReasons checks that DecideWithoutReasons and Decide agree for all rules and candidates.
func TestChoose_IsDecideWithoutTheReasons(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 4))
		rules, candidates, spots := randomRules(random)
		rules.Algorithm = Algorithms()[random.IntN(len(Algorithms()))]
		for i := range candidates {
			candidates[i].Latency = LatencyMeasurement{Smoothed: time.Duration(random.IntN(100)), Samples: random.IntN(3)}
		}
		for _, family := range []Family{IPv4, IPv6} {
			spot := spots[random.IntN(len(spots))]
			rules.Client, rules.Position = spot.Region, spot.Position
			want := Decide(rules, candidates, family)
			want.Excluded = nil
			if got := DecideWithoutReasons(rules, candidates, family); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %v: %+v, want %+v", seed, rules, got, want)
			}
		}
	}
}
