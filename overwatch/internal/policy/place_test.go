package policy // inside: it uses earthRadius

import (
	"math"
	"testing"

	"gslb.internal/shared/model"
)

var (
	paris    = Coordinates{48.86, 2.35}
	newYork  = Coordinates{40.71, -74.01}
	tokyo    = Coordinates{35.68, 139.69}
	auckland = Coordinates{-36.85, 174.76}
	samoa    = Coordinates{-13.83, -171.77}
)

func TestDistance_IsAlongTheGreatCircle(t *testing.T) {
	for _, c := range []struct {
		name       string
		a, b       Coordinates
		kilometres float64
	}{
		{"the same place", paris, paris, 0},
		{"across an ocean", paris, newYork, 5837},
		{"across the date line", auckland, samoa, 2896},
		{"to the other side of the earth", Coordinates{0, 0}, Coordinates{0, 180}, math.Pi * earthRadius},
	} {
		if got := Distance(c.a, c.b); math.Abs(got-c.kilometres) > 30 {
			t.Errorf("%s: %.0f km, want %.0f", c.name, got, c.kilometres)
		}
	}
}

func TestDecide_Geolocation(t *testing.T) {
	known := map[string]Coordinates{"eu": paris, "us": newYork, "asia": tokyo, "oceania": auckland}
	everywhere := []string{"10.0.0.1 asia 1", "10.0.0.2 eu 3", "10.0.0.3 eu 1", "10.0.0.4 us 1"}
	cases := []struct {
		name, client string
		known        map[string]Coordinates
		candidates   []string
		want, region string
	}{
		{"the client's region, weighted", "eu", known, everywhere, "success 10.0.0.2=300 10.0.0.3=100", "eu"},
		{"down at home: the nearest", "eu", known, []string{"10.0.0.1 asia 1", "10.0.0.2 eu 3 down", "10.0.0.4 us 1"},
			"failover 10.0.0.4=100", "us"},
		{"nothing at home: the nearest, which is no failover", "oceania", known, everywhere, "success 10.0.0.1=100", "asia"},
		{"the nearest is down: the next", "oceania", known,
			[]string{"10.0.0.1 asia 1 down", "10.0.0.2 eu 1", "10.0.0.4 us 1"}, "success 10.0.0.4=100", "us"},
		{"nowhere: the domain's order", "", known, everywhere, "success 10.0.0.2=300 10.0.0.3=100", "eu"},
		{"coordinates not known: the domain's order", "oceania", nil, everywhere, "success 10.0.0.2=300 10.0.0.3=100", "eu"},
		{"regions without coordinates come behind those with", "oceania",
			map[string]Coordinates{"oceania": auckland, "asia": tokyo},
			everywhere, "success 10.0.0.1=100", "asia"},
		{"regions that are not listed come last", "", nil,
			[]string{"10.0.0.1 mars 1", "10.0.0.2 jupiter 1", "10.0.0.3 asia 1 down"}, "success 10.0.0.2=100", "jupiter"},
		{"weight 0 at home waits for the others", "eu", known, []string{"10.0.0.1 eu 0", "10.0.0.2 us 1"},
			"failover 10.0.0.2=100", "us"},
		{"another family at home is no failover", "eu", known, []string{"2001:db8::1 eu 1", "10.0.0.2 us 1"},
			"success 10.0.0.2=100", "us"},
		{"all down, all answer, at home first", "us", known, []string{"10.0.0.1 eu 1 down", "10.0.0.2 us 1 down"},
			"fallback 10.0.0.2=100", "us"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var candidates []Candidate
			for _, line := range c.candidates {
				candidates = append(candidates, parseCandidate(t, line))
			}
			rules := Rules{Algorithm: Geolocation, Regions: []string{"eu", "us", "asia"}, OnAllDown: All, TTL: 60,
				Client: c.client, Coordinates: c.known}
			d := Decide(rules, candidates, IPv4)
			if got := describe(d); got != c.want || d.Region != c.region {
				t.Errorf("%s in %q, want %s in %q", got, d.Region, c.want, c.region)
			}
		})
	}
}

func TestDecide_Latency(t *testing.T) {
	cases := []struct {
		name       string
		candidates []string
		want       string
	}{
		{"the fastest", []string{"10.0.0.1 eu 1 ms=20/3", "10.0.0.2 eu 1 ms=30/3"}, "success 10.0.0.1=100"},
		{"within a tenth of it by weight", []string{"10.0.0.1 eu 1 ms=20/3", "10.0.0.2 eu 3 ms=22/9",
			"10.0.0.3 eu 3 ms=23/9"}, "success 10.0.0.1=100 10.0.0.2=300"},
		{"too few samples wait", []string{"10.0.0.1 eu 1 ms=5/2", "10.0.0.2 eu 1 ms=30/3"}, "success 10.0.0.2=100"},
		{"above the limit waits", []string{"10.0.0.1 eu 1 ms=501/3", "10.0.0.2 eu 1 ms=500/3"}, "success 10.0.0.2=100"},
		{"nothing measured: weighted", []string{"10.0.0.1 eu 1 ms=5/2", "10.0.0.2 eu 2"},
			"success 10.0.0.1=100 10.0.0.2=200"},
		{"all above the limit: weighted", []string{"10.0.0.1 eu 1 ms=900/9", "10.0.0.2 eu 2 ms=700/9"},
			"success 10.0.0.1=100 10.0.0.2=200"},
		{"the fastest is down", []string{"10.0.0.1 eu 1 ms=5/3 down", "10.0.0.2 eu 1 ms=30/3"}, "success 10.0.0.2=100"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var candidates []Candidate
			for _, line := range c.candidates {
				candidates = append(candidates, parseCandidate(t, line))
			}
			rules := Rules{Algorithm: Latency, TTL: 60,
				Domain: &model.Domain{LatencyConfig: model.LatencyConfig{MaxLatencyMs: 500, MinSamples: 3}}}
			if got := describe(Decide(rules, candidates, IPv4)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
