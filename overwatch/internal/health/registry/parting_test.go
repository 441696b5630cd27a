package registry // inside: it shares world_test.go

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// inParting runs a test after an agent has drained two declared servers and has sent its leave message. The declaration
// of the second server does not name the agent.
func inParting(t *testing.T, timing Timing, test func(w *world, agent trust.Agent)) {
	t.Helper()
	inWorld(t, timing, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{named(a1, "one"), static(a2)}))
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.verdict(a1, check.Success)
		w.verdict(a2, check.Success)
		_, err := w.ApplyDrain(w.ctx(), agent, &wire.Drain{OverMillis: 20_000})
		w.must(err)
		w.pass(20 * time.Second)
		w.share(a1, 0, false)
		w.must(w.ApplyGoodbye(w.ctx(), agent))
		test(w, agent)
	})
}

// A machine that stops receives no traffic between the leave message of its agent and the next result of the node's own
// check.
func TestDeregister_ADeclaredServerStaysDrainedUntilACheckSucceeds(t *testing.T) {
	inParting(t, validating, func(w *world, _ trust.Agent) {
		w.share(a1, 0, false)
		w.share(a2, 1, true) // the drain of an unauthorized reporter has no effect
		w.asked(a1)
		w.must(w.ApplyCheckResult(w.ctx(), CheckResult{ID: id(a1), Outcome: check.Success, State: check.StateHealthy,
			Latency: time.Second, At: time.Now().Add(time.Millisecond)})) // the check began before the leave message
		w.share(a1, 0, false)
		w.failed(a1)
		w.pass(DefaultRemoveAfter)
		w.share(a1, 0, false)
		w.verdict(a1, check.Success)
		w.share(a1, 1, true)
		w.asked()
	})
}

func TestDeregister_AnAgentThatComesBackEndsItsDrain(t *testing.T) {
	inParting(t, validating, func(w *world, agent trust.Agent) {
		other := w.authority.agent("two", "eu", "a.example")
		w.beat(other, a1+" healthy")
		w.share(a1, 0, false) // a heartbeat of an unauthorized reporter does not end the drain
		w.beat(agent, a1+" healthy")
		w.share(a1, 1, true)
		w.must(w.RemoveAgent(w.ctx(), "one"))
		w.share(a1, 1, true)
	})
}

func (w *world) endParting(text string, want bool) {
	w.t.Helper()
	if ended, err := w.EndLeftDrain(w.ctx(), id(text)); err != nil || ended != want {
		w.t.Errorf("%s: ended %v, %v, want %v", text, ended, err, want)
	}
}

// An operator can end the drain, even on a node that restarts.
func TestEndParting_EndsTheDrainOfAnAgentThatHasLeft(t *testing.T) {
	inParting(t, validating, func(w *world, _ trust.Agent) {
		w.endParting(a2, false)
		w.share(a1, 0, false)
		w.endParting(a1, true)
		w.share(a1, 1, true)
		w.pass(10 * time.Second)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{named(a1, "one"), static(a2)}))
		w.share(a1, 1, true)
	})
}

func TestDeregister_WithoutChecksADrainEndsAsThatOfALostAgent(t *testing.T) {
	inParting(t, notValidating, func(w *world, _ trust.Agent) {
		w.pass(DefaultRemoveAfter - time.Second)
		w.share(a1, 0, false)
		w.pass(2 * time.Second)
		w.share(a1, 1, true)
	})
}

func TestRestart_TheDrainOfAnAgentThatHasLeftGoesOn(t *testing.T) {
	inParting(t, validating, func(w *world, _ trust.Agent) {
		w.pass(10 * time.Second)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{named(a1, "one"), static(a2)}))
		w.share(a1, 0, false)
		w.share(a2, 1, true)
		w.failed(a1)
		w.share(a1, 0, false)
		w.verdict(a1, check.Success)
		w.share(a1, 1, true)
		w.pass(10 * time.Second)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{named(a1, "one"), static(a2)}))
		w.share(a1, 1, true)
	})
}
