package status_test

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
)

func TestProtection_IsExceededByMoreThanTheShareOfAtLeastThree(t *testing.T) {
	for _, tc := range []struct {
		percent, stopped, others int
		want                     bool
	}{
		{50, 1, 0, false}, {50, 2, 0, false}, {50, 1, 1, false}, {50, 1, 2, false}, {50, 2, 1, true}, {50, 3, 0, true},
		{50, 2, 2, false}, {50, 3, 2, true}, {50, 0, 9, false}, {25, 1, 3, false}, {25, 2, 3, true}, {99, 3, 0, true},
		{50, 5000, 5000, false}, {50, 5001, 4999, true},
	} {
		p := status.Protection{Enabled: true, Percent: tc.percent}
		if got := p.IsExceeded(tc.stopped, tc.others); got != tc.want {
			t.Errorf("%d stopped and %d others at %d%%: %t", tc.stopped, tc.others, tc.percent, got)
		}
		p.Enabled = false
		if p.IsExceeded(tc.stopped, tc.others) {
			t.Error("disabled protection is exceeded")
		}
	}
}

func TestHold_EndsByTimeUnlessItKeepsARegion(t *testing.T) {
	p := status.Protection{Enabled: true, Percent: 50, Window: time.Minute, HoldTime: 10 * time.Minute}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		name        string
		keepsRegion bool
		settings    status.Protection
		held        int
		after       time.Duration
		reason      string
		next        time.Duration
	}{
		{"held", false, p, 1, time.Minute, "", 10 * time.Minute},
		{"held, over", false, p, 1, 10 * time.Minute, status.HoldExpired, 0},
		{"held, keeps a region", true, p, 1, 10 * time.Minute, "", 0},
		{"disabled", true, status.Protection{}, 1, time.Minute, status.HoldDisabled, 0},
		{"empty", false, p, 0, time.Minute, "", 2 * time.Minute},
	} {
		var h status.Hold
		h.KeepsRegion = tc.keepsRegion
		h.Begin(start)
		reason, next := h.Update(tc.settings, tc.held, start.Add(tc.after))
		if want := tc.next; reason != tc.reason || (want == 0) != next.IsZero() || want != 0 && next.Sub(start) != want {
			t.Errorf("%s: %q, next %v", tc.name, reason, next)
		}
	}
	var h status.Hold
	h.Begin(start)
	h.Update(p, 0, start)
	if reason, _ := h.Update(p, 0, start.Add(p.Window)); reason != status.HoldEmpty {
		t.Errorf("empty for a window: %q", reason)
	}
}

func TestIsolation_TwoAgentsAndServicesContradict(t *testing.T) {
	var (
		isolation        status.Isolation
		services, agents [2]status.Tally
	)
	evidence := func(i int) status.Evidence {
		return status.Evidence{Kind: status.EvidenceContradicting, Region: "eu", Service: &services[i], Agent: &agents[i]}
	}
	isolation.Replace(status.Evidence{}, evidence(0))
	if isolation.IsCutOff() {
		t.Error("cut off by a single agent")
	}
	isolation.Replace(status.Evidence{}, evidence(1))
	if !isolation.IsCutOff() || isolation.DarkRegions() != 1 || isolation.ContradictingAgents() != 2 {
		t.Errorf("not cut off: %+v", isolation)
	}
	isolation.Replace(evidence(1), status.Evidence{Kind: status.EvidenceSucceeding, Region: "eu", Service: &services[1]})
	if isolation.IsCutOff() {
		t.Error("cut off although as many backends succeed")
	}
	isolation.Replace(evidence(0), status.Evidence{})
	if isolation.ContradictingAgents() != 0 || services[0] != (status.Tally{}) || agents[0] != (status.Tally{}) {
		t.Errorf("evidence was not removed: %+v", isolation)
	}
}
