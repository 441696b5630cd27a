package registry // inside: it shares world_test.go

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// An agent that has just started reports a backend as healthy after one success. A backend whose last state was
// unhealthy needs success_threshold successes, as without the restart of the agent.
func TestClaim_OneSuccessOfAnAgentThatHasBegunBringsNothingBack(t *testing.T) {
	for _, test := range []struct {
		name      string
		timing    Timing
		before    func(w *world, beat func(claim string, successes uint32))
		successes uint32
		want      status.Conclusion
	}{
		{"unhealthy by the agent's own word", notValidating,
			func(_ *world, beat func(string, uint32)) { beat("unhealthy", 0) }, 1, rememberedDown},
		{"and enough successes", notValidating, func(_ *world, beat func(string, uint32)) { beat("unhealthy", 0) }, 3,
			agentHealthy},
		{"and one fewer", notValidating, func(_ *world, beat func(string, uint32)) { beat("unhealthy", 0) }, 2,
			rememberedDown},
		{"the node restarted, too", notValidating, func(w *world, beat func(string, uint32)) {
			beat("unhealthy", 0)
			w.pass(3 * time.Second)
			w.restart(Options{Timing: notValidating})
		}, 1, rememberedDown},
		{"its agent was lost", notValidating, func(w *world, beat func(string, uint32)) {
			beat("healthy", 9)
			w.pass(DefaultStaleThreshold + time.Second)
		}, 1, rememberedDown},
		{"healthy before", notValidating, func(_ *world, beat func(string, uint32)) { beat("healthy", 9) }, 1, agentHealthy},
		{"never heard of", notValidating, func(*world, func(string, uint32)) {}, 1, agentHealthy},
		{"the node has a verdict, good", validating, func(w *world, beat func(string, uint32)) {
			beat("unhealthy", 0)
			w.verdict(a1, check.Success)
		}, 1, concluded("healthy", true, status.ReasonAgreed)},
		{"the node has a verdict, bad", validating, func(w *world, beat func(string, uint32)) {
			beat("unhealthy", 0)
			w.verdict(a1, check.Failure)
		}, 1, concluded("unhealthy", false, status.ReasonValidationUnhealthy)},
		{"it does not say how many", notValidating, func(_ *world, beat func(string, uint32)) { beat("unhealthy", 0) }, 0,
			agentHealthy},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, test.timing, func(w *world) {
				agent := w.authority.agent("one", "eu", "a.example")
				beat := func(claim string, successes uint32) {
					said := claims(a1 + " " + claim)
					said[0].Check.SuccessThreshold, said[0].ConsecutiveSuccesses = 3, successes
					_, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{IntervalMillis: 10_000, MissedThreshold: 3,
						Backends: said})
					w.must(err)
				}
				test.before(w, beat)
				beat("healthy", test.successes)
				w.see(a1, test.want)
				beat("healthy", test.successes) // first the same number again, then more
				w.see(a1, test.want)
				if beat("healthy", 3); test.want.Reason == status.ReasonRememberedUnhealthy {
					w.see(a1, agentHealthy)
				}
			})
		})
	}
}

// A check result that is ignored because of self-isolation has no effect: the backend needs as many successes as
// without the result.
func TestClaim_OneSuccessBringsNothingBackWhileVerdictsAreSetAside(t *testing.T) {
	inSites(t, func(s *sites) {
		const d = "d.example:10.0.0.1:80"
		agent := s.w.authority.agent("another", "eu", "d.example")
		s.w.beat(agent, d+" unhealthy")
		s.round(check.Failure, 0, 1)
		s.w.verdict(d, check.Failure)
		if b := s.w.View().Get(id(d)); !s.w.View().IsIsolated() || !b.OwnCheck.IsIgnored {
			t.Fatalf("not set aside: %+v", b)
		}
		said := claims(d + " healthy")
		for successes, want := range []status.Conclusion{1: rememberedDown, 2: agentHealthyAside} {
			if successes == 0 {
				continue
			}
			said[0].ConsecutiveSuccesses = uint32(successes)
			_, err := s.w.ApplyHeartbeat(s.w.ctx(), agent, &wire.Heartbeat{IntervalMillis: 10_000, MissedThreshold: 3,
				Backends: said})
			s.w.must(err)
			s.w.see(d, want)
		}
	}, "eu a.example", "us b.example")
}
