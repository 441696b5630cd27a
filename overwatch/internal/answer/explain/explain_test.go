package explain // inside: it uses maxLines

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/model"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// past explains an answer to a client in eu under the rules. 10.0.0.1 is in eu, 10.0.0.2 and 10.0.0.3 are in us. change
// edits the candidates.
func past(rules policy.Rules, placed bool, change ...func([]policy.Candidate)) Explanation {
	return pastIn(1, rules, placed, change...)
}

// pastIn explains an answer as past, for a client in the region with the number. 0 means no region.
func pastIn(region uint16, rules policy.Rules, placed bool, change ...func([]policy.Candidate)) Explanation {
	candidates := make([]policy.Candidate, 3)
	for i, region := range []string{"eu", "us", "us"} {
		candidates[i] = policy.Candidate{
			Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), Port: 443, Region: region, Weight: 100, Share: 1,
			MayServe: true,
			Info:     &policy.CandidateInfo{Status: "healthy", Reason: "all agree"},
		}
	}
	for _, f := range change {
		f(candidates)
	}
	paris := &policy.Coordinates{Latitude: 48.9, Longitude: 2.4}
	basis := &policy.DecisionInput{
		Name: "app.test.", Rules: &rules, Clients: []string{"", "eu", "us"}, UsesRegion: placed, Answers: 1, Number: 1,
		Generation: 7, Candidates: candidates, AwaitingFailback: rules.AwaitingFailback,
		Locations: []policy.ClientLocation{{}, {Region: "eu", Position: paris}},
	}
	return ExplainPast(Query{Name: "app.test", Client: netip.MustParseAddr("192.0.2.1")},
		zone.Selection{Input: basis, Region: geo.RegionID(region), Location: geo.LocationID(region)})
}

// told returns an explanation as text.
func told(e Explanation) string {
	text := string(e.Outcome)
	for _, b := range e.Backends {
		text += fmt.Sprintf("|%s %.2f %s", b.Address, b.Share, b.Excluded)
	}
	for _, f := range e.Factors() {
		text += fmt.Sprintf("|%s %s %s: %s", f.Type, f.Name, f.Value, f.Impact)
	}
	for i := range e.WouldBe {
		text += "|" + e.WouldBe[i].sentence()
	}
	return text
}

func TestPast_NamesTheReasons(t *testing.T) {
	down := func(i int) func([]policy.Candidate) {
		return func(c []policy.Candidate) {
			c[i].MayServe, c[i].Info = false, &policy.CandidateInfo{Status: "unhealthy", Reason: "its checks fail",
				Problem: "connection refused"}
		}
	}
	measured := func(c []policy.Candidate) {
		for i := range c {
			c[i].Latency = policy.LatencyMeasurement{Smoothed: time.Duration(i+1) * 20 * time.Millisecond, Samples: 9}
		}
	}
	awaiting := func(a *policy.Algorithm) policy.Rules {
		return policy.Rules{Algorithm: a, Regions: []string{"eu", "us"}, AwaitingFailback: []string{"eu"},
			Domain: &model.Domain{Failback: model.Failback{Manual: true}}}
	}
	known := map[string]policy.Coordinates{"eu": {Latitude: 50, Longitude: 8}, "us": {Latitude: 40, Longitude: -74}}
	for _, c := range []struct {
		name string
		e    Explanation
		says []string
	}{
		{"failback", past(awaiting(policy.Failover), false), []string{"failover|",
			"its region awaits failback: it is in eu, and us answers until then",
			"priority failback manual: eu was down and does not answer before its failback"}},
		{"failback of the client's region", past(awaiting(policy.Geolocation), true), []string{"failover|",
			"its own region awaits failback: us is next"}},
		{"geofence", past(policy.Rules{Algorithm: policy.Weighted, Regions: []string{"eu"}, OnAllDown: policy.ServFail,
			Domain: &model.Domain{Geofence: model.GeofenceStrict}}, true, down(0)), []string{"no_healthy_backend|",
			"the geofence allows only the region of the client to answer", "only eu may answer its clients"}},
		{"failback without another region", past(awaiting(policy.Failover), false, down(1), down(2)),
			[]string{"success|", "eu was down, and answers because no other region can serve"}},
		{"weights", past(policy.Rules{Algorithm: policy.Weighted}, false,
			func(c []policy.Candidate) { c[0].Weight, c[2].Weight = 200, 0 }),
			[]string{"success|10.0.0.1 0.67 |", "10.0.0.3 0.00 its weight is 0",
				"weight 10.0.0.1:443 200: 66.7 % of these answers"}},
		{"unhealthy", past(policy.Rules{Algorithm: policy.RoundRobin}, false, down(2)),
			[]string{"unhealthy: its checks fail: connection refused", "health serving_backends 2 of 3",
				"if 10.0.0.3:443 were up: success with 10.0.0.1 33.3%"}},
		{"all down", past(policy.Rules{Algorithm: policy.Weighted, OnAllDown: policy.ServFail}, false, down(0), down(1),
			down(2)),
			[]string{"no_healthy_backend|", "SERVFAIL", "if 10.0.0.1:443 were up: success with 10.0.0.1 100.0%",
				"if all that may not serve were up: success with 10.0.0.1 33.3%"}},
		{"no last resort either", past(policy.Rules{Algorithm: policy.Weighted, OnAllDown: policy.LastHealthy}, false,
			down(0), down(1), down(2)),
			[]string{"no_healthy_backend|", "on_all_down last_healthy finds none either: SERVFAIL"}},
		{"last resort", past(policy.Rules{Algorithm: policy.Weighted, OnAllDown: policy.All, TTL: 300}, false, down(0),
			down(1), down(2)),
			[]string{"fallback|", "on_all_down all answers, for 30 s at most"}},
		{"override", past(policy.Rules{Algorithm: policy.Weighted}, false, func(c []policy.Candidate) {
			c[0].MayServe, c[0].Forbidden = false, true
			c[0].Info = &policy.CandidateInfo{Status: "unhealthy", Reason: "by override",
				Override: &policy.AdminState{By: "192.0.2.9", Reason: "update", Until: noon}}
		}), []string{"unhealthy, set by 192.0.2.9, expires 2026-01-01T12:00:00Z: update", "override 10.0.0.1:443",
			"it may not serve"}},
		{"draining", past(policy.Rules{Algorithm: policy.Weighted}, false, func(c []policy.Candidate) {
			c[0].Share, c[0].Info = 0.5, &policy.CandidateInfo{Status: "healthy", DrainEndsAt: noon}
		}), []string{"drain 10.0.0.1:443 until 2026-01-01T12:00:00Z: 50 % of its weight is left",
			"100 x 0.50: 20.0 % of these answers"}},
		{"failover", past(policy.Rules{Algorithm: policy.Failover, Regions: []string{"eu", "us"}}, false, down(0)),
			[]string{"failover|", "priority region_order eu, us: us answers",
				"if 10.0.0.1:443 were up: success with 10.0.0.1 100.0%"}},
		{"at home", past(policy.Rules{Algorithm: policy.Geolocation}, true),
			[]string{"it is in us, and eu answers", "geo client_region eu: the client's own region answers"}},
		{"away from home", past(policy.Rules{Algorithm: policy.Geolocation}, true, down(0)),
			[]string{"its own region has nothing to answer with: us is next"}},
		{"nowhere", pastIn(0, policy.Rules{Algorithm: policy.Geolocation, Regions: []string{"us", "eu"}}, true),
			[]string{"geo client_region no region: it is in no region: us is the first that can answer"}},
		{"nowhere, where another algorithm chooses then",
			pastIn(0, policy.Rules{Algorithm: policy.Geolocation, Fallback: policy.Weighted}, true),
			[]string{"geo client_region no region: makes no difference to weighted",
				"priority fallback_algorithm weighted: geolocation lacks data for a choice"}},
		{"nowhere, and nobody answers", pastIn(0, policy.Rules{Algorithm: policy.Geolocation, OnAllDown: policy.ServFail},
			true, down(0), down(1), down(2)), []string{"makes no difference: there is no answer"}},
		{"near", past(policy.Rules{Algorithm: policy.Proximity, Coordinates: known}, true),
			[]string{"it is in us, and eu is nearer", "eu is the nearest region with serving backends"}},
		{"slow", past(policy.Rules{Algorithm: policy.Latency, Domain: limits(50, 3)}, false,
			measured),
			[]string{"others are faster: it takes 40.0 ms", "its latency exceeds the limit: it takes 60.0 ms",
				"latency 10.0.0.1:443 20.0 ms: among the fastest"}},
		{"measured too few times", past(policy.Rules{Algorithm: policy.Latency, Domain: limits(0, 10)}, false, measured),
			[]string{"latency 10.0.0.3:443 60.0 ms: not compared: measured 9 of 10 times"}},
		{"all too slow", past(policy.Rules{Algorithm: policy.Latency, Domain: limits(10, 0)}, false, measured),
			[]string{"latency 10.0.0.1:443 20.0 ms: not compared: slower than 10.0 ms"}},
		{"want of data", past(policy.Rules{Algorithm: policy.Latency, Domain: limits(0, 3), Fallback: policy.Weighted},
			false),
			[]string{"priority fallback_algorithm weighted: latency lacks data for a choice"}},
		{"a hash", past(policy.Rules{Algorithm: policy.ClientHash,
			Domain: &model.Domain{ClientHash: model.ClientHash{IPv4Prefix: 24, IPv6Prefix: 56}}}, false),
			[]string{"weight client_network /24 or /56: this network has the same backend"}},
		{"a pool", past(policy.Rules{Algorithm: policy.Geolocation,
			Pools: map[string]*policy.Algorithm{"eu": policy.RoundRobin}}, true),
			[]string{"priority algorithm_inside round-robin: chooses inside eu"}},
	} {
		text := told(c.e)
		for _, words := range c.says {
			if !strings.Contains(text, words) {
				t.Errorf("%s: %q is not in\n%s", c.name, words, strings.ReplaceAll(text, "|", "\n"))
			}
		}
	}
}

func TestWouldBe_IsBounded(t *testing.T) {
	basis := &policy.DecisionInput{Rules: &policy.Rules{Algorithm: policy.Weighted}, Candidates: make([]policy.Candidate,
		100)}
	for i := range basis.Candidates {
		basis.Candidates[i] = policy.Candidate{Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), Weight: 1, Share: 1}
	}
	e := ExplainPast(Query{Name: "app.test"}, zone.Selection{Input: basis, Lead: zone.NoLead})
	if len(e.WouldBe) != MaxWouldBe+1 || e.WouldBe[MaxWouldBe].If != nil || e.Selected() != nil {
		t.Errorf("%d, the last %+v", len(e.WouldBe), e.WouldBe[len(e.WouldBe)-1].If)
	}
	if lines := e.lines(); len(lines) != maxLines+2 || !strings.HasSuffix(lines[maxLines+1], "more lines: ask the API") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// limits returns the settings of a domain with latency limits.
func limits(maxMs, samples int) *model.Domain {
	return &model.Domain{LatencyConfig: model.LatencyConfig{MaxLatencyMs: maxMs, MinSamples: samples}}
}
