package policy // inside: it uses parseCandidate

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"gslb.internal/shared/model"
)

// A region that awaits failback answers only if no other region can serve as well.
func TestDecide_RegionsThatAwaitFailback(t *testing.T) {
	three := []string{"10.0.0.1 a 100", "10.0.0.2 b 100", "10.0.0.3 c 100"}
	with := func(at int, line string) []string {
		list := append([]string(nil), three...)
		list[at] = line
		return list
	}
	for _, c := range []struct {
		name       string
		algorithm  *Algorithm
		client     string
		threshold  int
		awaits     string
		candidates []string
		want       string // region and outcome
	}{
		{"none", Failover, "", 1, "", three, "a success"},
		{"the standby stays", Failover, "", 1, "a", three, "b failover"},
		{"the next standby", Failover, "", 1, "a", with(1, "10.0.0.2 b 100 down"), "c failover"},
		{"two await", Failover, "", 1, "a b", three, "c failover"},
		{"no standby is left", Failover, "", 1, "a", append(three[:1:1], "10.0.0.2 b 100 down"), "a success"},
		{"all await", Failover, "", 1, "a b c", three, "a success"},
		{"the standby is small", Failover, "", 2, "a",
			[]string{"10.0.0.1 a 1", "10.0.0.2 a 1", "10.0.0.3 b 1"}, "b failover"},
		{"too few of the standby are left", Failover, "", 2, "a",
			[]string{"10.0.0.1 a 1", "10.0.0.2 a 1", "10.0.0.3 b 1", "10.0.0.4 b 1 down"}, "a success"},
		{"too few of both are left", Failover, "", 2, "a",
			[]string{"10.0.0.1 a 1", "10.0.0.2 a 1 down", "10.0.0.3 b 1", "10.0.0.4 b 1 down"}, "b failover"},
		{"the standby has weight 0", Failover, "", 1, "a", with(1, "10.0.0.2 b 0")[:2], "b failover"},
		{"the standby is drained", Failover, "", 1, "a", with(1, "10.0.0.2 b 100 share=0")[:2], "a success"},
		{"the standby has another family", Failover, "", 1, "a", with(1, "2001:db8::2 b 100")[:2], "a success"},
		{"an unknown region", Failover, "", 1, "x", three, "a success"},
		{"geolocation", Geolocation, "a", 1, "a", three, "b failover"},
		{"clients of another region", Geolocation, "c", 1, "a", three, "c success"},
		{"geolocation without another region", Geolocation, "a", 1, "a b c", three, "a success"},
		{"proximity", Proximity, "a", 1, "a", three, "b failover"},
	} {
		var list []Candidate
		for _, line := range c.candidates {
			list = append(list, parseCandidate(t, line))
		}
		rules := Rules{Algorithm: c.algorithm, Regions: []string{"a", "b", "c"}, Client: c.client,
			AwaitingFailback: strings.Fields(c.awaits), Domain: &model.Domain{FailoverThreshold: c.threshold},
			Coordinates: map[string]Coordinates{"a": {0, 0}, "b": {0, 10}, "c": {0, 20}}}
		if c.client != "" {
			at := rules.Coordinates[c.client]
			rules.Position = &at
		}
		d := Decide(rules, list, IPv4)
		if got := d.Region + " " + string(d.Outcome); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for _, x := range d.Excluded {
			if awaits := strings.Contains(c.awaits, list[x.Candidate].Region); x.Reason == AwaitsFailback && !awaits {
				t.Errorf("%s: %s is excluded: %s", c.name, list[x.Candidate].Region, x.Reason)
			}
		}
	}
}

// The decisions for all locations agree with the decisions for single clients.
func TestLocationTable_HasRegionsThatAwaitFailback(t *testing.T) {
	places := []*Coordinates{{0, 1}, {0, 9}, {0, 19}}
	table := NewLocationTable(places, []uint16{0, 0, 0})
	list := []Candidate{parseCandidate(t, "10.0.0.1 a 1"), parseCandidate(t, "10.0.0.2 b 1"),
		parseCandidate(t, "10.0.0.3 c 1")}
	rules := Rules{Algorithm: Proximity, AwaitingFailback: []string{"a"},
		Coordinates: map[string]Coordinates{"a": {0, 0}, "b": {0, 10}, "c": {0, 20}}}
	decisions, class := table.Decide(rules, list, IPv4, []string{""}, "")
	got := ""
	for i, at := range places {
		rules.Position = at
		if one := Decide(rules, list, IPv4); one.Region != decisions[class[i]].Region {
			t.Errorf("location %d: %s, and alone %s", i, decisions[class[i]].Region, one.Region)
		}
		got += decisions[class[i]].Region
	}
	if got != "bbc" {
		t.Errorf("the regions are %s", got)
	}
}

// A region is down if backends have failed. Backends that operators removed, and new backends, have not failed.
func TestRegionsOf(t *testing.T) {
	withdrawn := parseCandidate(t, "10.0.0.9 d 1 taken-out")
	withdrawn.Withdrawn = true
	v6 := parseCandidate(t, "10.0.0.8 e 1")
	v6.Address = netip.MustParseAddr("2001:db8::8")
	list := []Candidate{parseCandidate(t, "10.0.0.1 a 1"), parseCandidate(t, "10.0.0.2 a 1 down"),
		parseCandidate(t, "10.0.0.3 b 1 down"), parseCandidate(t, "10.0.0.4 c 1 unknown"), withdrawn,
		parseCandidate(t, "10.0.0.7 e 1 down"), v6}
	unnamed := parseCandidate(t, "10.0.0.6 x 1 down")
	unnamed.Region = ""
	describe := func(rules *Rules) (text string) {
		for _, r := range RegionsOf(rules, append(list, unnamed)) {
			text += fmt.Sprintf("%s %d/%d %v; ", r.Region, r.Serving, r.Required, r.IsDown)
		}
		return text
	}
	if got, want := describe(&Rules{Algorithm: Geolocation, Domain: &model.Domain{FailoverThreshold: 2}}),
		"a 1/1 false; b 0/1 true; c 0/1 false; d 0/1 false; e 1/1 false; "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := describe(&Rules{Algorithm: Failover, Domain: &model.Domain{FailoverThreshold: 2}}),
		"a 1/2 true; b 0/1 true; c 0/1 false; d 0/1 false; e 1/1 false; "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
