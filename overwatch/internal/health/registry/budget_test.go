package registry // inside: it uses changeBurst and changeRate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// everything returns the maximum number of reports of an agent.
func everything(state string) (said []string) {
	for i := range wire.MaxBackends {
		said = append(said, fmt.Sprintf("a.example:10.1.0.1:%d %s", 1+i, state))
	}
	return said
}

func TestBudget_AnAgentThatFlapsAllTheTimeWaitsAndItsHeartbeatCompletesIt(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		moody, sound := w.authority.agent("moody", "eu", "a.example"), w.authority.agent("sound", "eu", "b.example")
		beat := func(state string) Outcome {
			outcome, err := w.ApplyHeartbeat(w.ctx(), moody, &wire.Heartbeat{Region: "eu",
				Backends: claims(everything(state)...)})
			if err != nil {
				t.Fatal(err)
			}
			return outcome
		}
		taken := 0
		for i := range 1000 {
			if beat([]string{"healthy", "unhealthy"}[i%2]).Changed {
				taken++
			}
		}
		if taken == 0 || taken > changeBurst/wire.MaxBackends {
			t.Errorf("%d of 1000 changes of all backends were taken at once", taken)
		}
		w.beat(sound, b1+" healthy")
		w.beat(sound, b1+" unhealthy")
		w.see(b1, agentUnhealthy)

		// A message with deferred changes updates the last-seen time of the agent. A report of a single backend is deferred
		// too, and the log contains one line.
		for range 10 {
			time.Sleep(DefaultStaleThreshold / 2)
			w.spend(moody)
			if outcome, err := w.ApplyTransition(w.ctx(), moody, transitionOf("a.example:10.1.0.1:1 none")); err != nil ||
				!outcome.Deferred {
				t.Fatalf("%+v, %v", outcome, err)
			}
		}
		if got := w.View().Get(id("a.example:10.1.0.1:2")); got == nil || got.Reported == nil {
			t.Errorf("what it said before is gone: %+v", got)
		}
		if n := strings.Count(w.log.String(), "more often than is taken"); n != 1 {
			t.Errorf("%d lines say that it changes too much", n)
		}
		time.Sleep(changeBurst / changeRate * time.Second)
		if beat("healthy").Deferred {
			t.Error("after a rest it waits still")
		}
		w.see("a.example:10.1.0.1:1", agentHealthy)
	})
}

// An agent that sends each message from another address changes the checks of all its backends.
func TestBudget_AnAgentThatMovesAllTheTimeWaits(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		for i := range 100 {
			at := id([]string{a1, a2}[i%2]).Address
			outcome, err := w.ApplyHeartbeat(w.ctx(), agent.WithAddress(at),
				&wire.Heartbeat{Region: "eu", Backends: claims(everything("healthy")...)})
			if err != nil {
				t.Fatal(err)
			}
			if outcome.Deferred {
				return
			}
		}
		t.Error("it never waits")
	})
}

// An agent is never deferred if it repeats its report, or if each of its backends changes once.
func TestBudget_LeavesRoomForWhatASoundAgentSays(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		for range 3000 {
			w.beat(agent, everything("healthy")...)
		}
		for _, state := range []string{"unhealthy", "healthy", "unhealthy"} {
			for _, said := range everything(state) {
				if outcome, err := w.ApplyTransition(w.ctx(), agent, transitionOf(said)); err != nil || outcome.Deferred {
					t.Fatalf("%s: %+v, %v", said, outcome, err)
				}
			}
		}
	})
}

func transitionOf(said string) *wire.Transition { return &wire.Transition{Backend: claims(said)[0]} }

// spend makes an agent send changes until a change is deferred.
func (w *world) spend(agent trust.Agent) {
	w.t.Helper()
	for i := range 1000 {
		said := everything([]string{"healthy", "unhealthy"}[i%2])
		outcome, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{Region: "eu", Backends: claims(said...)})
		if err != nil {
			w.t.Fatal(err)
		}
		if outcome.Deferred {
			return
		}
	}
	w.t.Fatal("the agent never waits")
}
