package registry // inside: it shares world_test.go

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

const (
	halfMinute = 30_000 // milliseconds, the bleed duration of the specification
	a3         = "a.example:10.0.0.3:80"
)

// beatWarned sends a heartbeat in which every backend has these warnings.
func (w *world) beatWarned(from trust.Agent, warnings wire.Warnings, said ...string) {
	w.t.Helper()
	m := &wire.Heartbeat{Version: "test", IntervalMillis: 10_000, MissedThreshold: 3, Backends: claims(said...)}
	for i := range m.Backends {
		m.Backends[i].Warnings = warnings
	}
	_, err := w.ApplyHeartbeat(w.ctx(), from, m)
	w.must(err)
}

// signal sends a Signal with these warnings about the named backends.
func (w *world) signal(from trust.Agent, warnings wire.Warnings, named ...string) Outcome {
	w.t.Helper()
	m := &wire.Signal{}
	for _, s := range named {
		id := id(s)
		m.Backends = append(m.Backends, wire.Warned{Service: id.Service, Address: id.Address, Port: id.Port,
			Warnings: warnings})
	}
	outcome, err := w.ApplyWarnings(w.ctx(), from, m)
	w.must(err)
	return outcome
}

func TestBleed_LowersTheShareToATenthAndRaisesItAgain(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		before := w.changed.count()
		w.signal(agent, wire.Warnings{CPUMillis: halfMinute}, a1)
		w.share(a1, 1, true)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonWarnsOfCPU))
		w.pass(15 * time.Second)
		w.share(a1, 0.55, true)
		w.beatWarned(agent, wire.Warnings{CPUMillis: halfMinute}, a1+" healthy") // a repeated warning has no effect
		w.pass(15 * time.Second)
		w.share(a1, 0.1, true)
		if n := w.changed.count() - before; n != status.WarningSteps+1 {
			t.Errorf("%d publications on the way down, want %d", n, status.WarningSteps+1)
		}
		w.beatWarned(agent, wire.Warnings{CPUMillis: halfMinute}, a1+" healthy")
		w.pass(20 * time.Second)
		w.share(a1, 0.1, true)
		w.signal(agent, wire.Warnings{})
		w.share(a1, 0.1, true)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonWarningEnded))
		w.pass(15 * time.Second)
		w.share(a1, 0.55, true)
		w.beat(agent, a1+" healthy")
		w.pass(15 * time.Second)
		w.share(a1, 1, true)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonAgentHealthy))
	})
}

func TestBleed_TurnsWhereItIs(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		warned := wire.Warnings{MemoryMillis: halfMinute}
		w.beatWarned(agent, warned, a1+" healthy")
		w.pass(15 * time.Second)
		w.beat(agent, a1+" healthy")
		w.share(a1, 0.55, true)
		w.pass(5 * time.Second)
		w.share(a1, 0.7, true)
		w.beatWarned(agent, warned, a1+" healthy")
		w.share(a1, 0.7, true)
		w.pass(5 * time.Second)
		w.share(a1, 0.55, true)
		w.beatWarned(agent, wire.Warnings{MemoryMillis: 2 * halfMinute}, a1+" healthy")
		w.share(a1, 0.55, true) // falls at the new rate from now on
		w.pass(20 * time.Second)
		w.share(a1, 0.25, true)
	})
}

func TestBleed_TheFurthestWarningCounts(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beatWarned(agent, wire.Warnings{CPUMillis: halfMinute, ErrorRateMillis: 2 * halfMinute}, a1+" healthy")
		w.pass(15 * time.Second)
		w.share(a1, 0.55, true)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonWarnsOfCPU))
		w.beatWarned(agent, wire.Warnings{ErrorRateMillis: 2 * halfMinute}, a1+" healthy")
		w.pass(15 * time.Second)
		w.share(a1, 0.55, true)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonWarnsOfErrors))
	})
}

func TestBleed_IsOnlyOfTheBackendsNamed(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent, other := w.authority.agent("one", "eu", "a.example"), w.authority.agent("two", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.beat(other, a3+" healthy")
		w.signal(agent, wire.Warnings{CPUMillis: halfMinute}, a2, a3)
		w.pass(15 * time.Second)
		w.share(a1, 1, true)
		w.share(a2, 0.55, true)
		w.share(a3, 1, true) // the agent does not report this backend
	})
}

func TestBleed_OfASilentAgentEnds(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beatWarned(agent, wire.Warnings{CPUMillis: 10_000}, a1+" healthy")
		w.verdict(a1, check.Success)
		w.pass(29 * time.Second)
		w.share(a1, 0.1, true)
		w.pass(2 * time.Second) // stale
		w.pass(10 * time.Second)
		w.share(a1, 1, true)
		w.see(a1, concluded(api.EffectiveStale, true, status.ReasonStaleValidated))
	})
}

func TestBleed_EndsWithTheClaim(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{named(a1, "one")}))
		w.beatWarned(agent, wire.Warnings{CPUMillis: 1000}, a1+" healthy")
		w.pass(2 * time.Second)
		w.share(a1, 0.1, true)
		w.must(w.ApplyGoodbye(w.ctx(), agent))
		w.share(a1, 1, true)
		w.signal(agent, wire.Warnings{CPUMillis: 1000}, a1) // the agent has no reports
		w.pass(2 * time.Second)
		w.share(a1, 1, true)
	})
}

func TestSignal_OfAnAgentThatIsNotHeardOrNotTrustedChangesNothing(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		if o := w.signal(agent, wire.Warnings{CPUMillis: 1}, a1); o.Changed {
			t.Error("a stranger's warning changed something")
		}
		w.seeNone(a1)
		if n := len(w.View().Agents()); n != 0 {
			t.Errorf("%d agents are listed", n)
		}
	})
}

func TestDrain_ByMessageTakesTheTimeThatTheAgentGives(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		outcome, err := w.ApplyDrain(w.ctx(), agent, &wire.Drain{OverMillis: 10_000})
		w.must(err)
		if !outcome.Changed {
			t.Error("nothing changed")
		}
		if b := w.View().Get(id(a2)); !b.Draining || !b.DrainEndsAt.Equal(time.Now().Add(10*time.Second)) {
			t.Errorf("draining %v until %v", b.Draining, b.DrainEndsAt)
		}
		w.pass(5 * time.Second)
		w.share(a1, 0.5, true)
		m := &wire.Heartbeat{Version: "test", IntervalMillis: 10_000, MissedThreshold: 3,
			Backends: claims(a1+" draining", a2+" draining")}
		for i := range m.Backends {
			m.Backends[i].DrainMillis = 10_000
		}
		_, err = w.ApplyHeartbeat(w.ctx(), agent, m) // a repeated request does not restart the drain
		w.must(err)
		w.pass(5 * time.Second)
		w.share(a1, 0, false)
		w.share(a2, 0, false)
	})
}
