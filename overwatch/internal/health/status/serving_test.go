package status_test

import (
	"math"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

func TestServe_SharesHoldsAndDrainsLowerTheConclusion(t *testing.T) {
	now := begin.Add(time.Hour)
	drained, half := status.Drain(begin, time.Second, 0), status.Drain(begin, time.Second, 0.5)
	drains := func(a, b *status.Ramp) status.ShareInputs { return status.ShareInputs{Drains: [2]*status.Ramp{a, b}} }
	warned := status.ShareInputs{Warnings: new(status.Warnings)}
	warned.Warnings.Update(wire.Warnings{CPUMillis: 1000}, begin)
	held, warningHeld := status.ShareInputs{HeldReason: status.ReasonHeldAgent}, status.ShareInputs{WarningHeld: true}
	none := status.ShareInputs{}
	const yes, no = check.StateHealthy, check.StateUnhealthy
	for name, tc := range map[string]struct {
		in     status.Inputs
		load   status.ShareInputs
		serves bool
		share  float64
		held   bool
		reason string
	}{
		"plain":  {status.Inputs{Report: yes}, none, true, 1, false, status.ReasonAgentHealthy},
		"warned": {status.Inputs{Report: yes}, warned, true, 0.1, false, status.ReasonWarnsOfCPU},
		"warned, down": {
			status.Inputs{Report: no}, warned, false, 0.1, false, status.ReasonAgentUnhealthy},
		"warned, override": {
			status.Inputs{Override: yes}, warned, true, 0.1, false, status.ReasonOverrideHealthy},
		"held": {
			status.Inputs{Report: no, Held: true}, held, true, 1, true, status.ReasonHeldAgent},
		"held, drained": {
			status.Inputs{Report: no, Held: true}, drains(&drained, nil), false, 0, false, status.ReasonDrained},
		"warning held": {
			status.Inputs{Report: yes}, warningHeld, true, 1, true, status.ReasonWarningHeld},
		"warning held, down": {
			status.Inputs{Report: no}, warningHeld, false, 1, false, status.ReasonAgentUnhealthy},
		"warning held, override": {
			status.Inputs{Override: yes}, warningHeld, true, 1, false, status.ReasonOverrideHealthy},
		"half drained": {
			status.Inputs{Report: yes}, drains(nil, &half), true, 0.5, false, status.ReasonAgentHealthy},
		"both drains": {
			status.Inputs{Report: yes}, drains(&half, &drained), false, 0, false, status.ReasonDrained},
		"drained, override": {
			status.Inputs{Override: yes}, drains(&drained, nil), false, 0, false, status.ReasonDrainedAnyway},
		"drained, down": {
			status.Inputs{Report: no}, drains(&drained, nil), false, 0, false, status.ReasonAgentUnhealthy},
	} {
		got := status.ConcludeShare(tc.in, &tc.load, now)
		if got.MayServe != tc.serves || math.Abs(got.Share-tc.share) > 1e-9 || got.Held != tc.held ||
			got.Reason != tc.reason {
			t.Errorf("%s: %+v; want %v, %v, held %v, %q", name, got, tc.serves, tc.share, tc.held, tc.reason)
		}
	}
}

func TestStops_ThreeWithinTheWindowAreFlapping(t *testing.T) {
	const window = 10 * time.Minute
	var s status.Stops
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	for _, minute := range []int{0, 4, 11} {
		s.AddStop("down", at(minute))
		if got := s.FlapReason(at(minute), window); got != "" {
			t.Errorf("after the stop at %d minutes it flaps: %q", minute, got)
		}
	}
	s.AddStop("again", at(12))
	if got := s.FlapReason(at(12), window); got != "again" || !s.FlapEnd(window).Equal(at(14)) {
		t.Errorf("%q until %v", got, s.FlapEnd(window))
	}
	if got := s.FlapReason(at(14), window); got != "" {
		t.Errorf("it flaps for longer than %v: %q", window, got)
	}
}
