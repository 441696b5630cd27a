package registry // inside: it shares world_test.go

import (
	"slices"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

var (
	outsiderUnhealthy = concluded(api.EffectiveHealthy, true, status.ReasonUnauthorizedUnhealthy)
)

func TestOutsider_ItsUnhealthyIsShownAndDoesNotDecideAgainstAnOwnCheck(t *testing.T) {
	declare := map[string]func(*world, Declaration){
		"file": func(w *world, d Declaration) { w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{d})) },
		"API":  func(w *world, d Declaration) { w.must(w.ChangeDeclarations(w.ctx(), []Declaration{d}, nil)) },
	}
	for by, declare := range declare {
		t.Run(by, func(t *testing.T) {
			inWorld(t, validating, func(w *world) {
				agent := w.authority.agent("one", "eu", "a.example")
				declare(w, static(a1))
				w.verdict(a1, check.Success)
				w.beat(agent, a1+" unhealthy")
				w.see(a1, outsiderUnhealthy)
				if b := w.View().Get(id(a1)); b.Reported == nil || *b.Reported || b.AgentID != "one" || !b.IsDisputed() {
					t.Errorf("the claim is not shown: %+v", b)
				}
				w.verdict(a1, check.Failure)
				w.see(a1, agentUnhealthy)
				w.verdict(a1, check.Success)
				w.see(a1, outsiderUnhealthy)
				declare(w, named(a1, "two"))
				w.see(a1, outsiderUnhealthy)
				declare(w, named(a1, "one"))
				w.see(a1, agentUnhealthy)
				declare(w, static(a1))
				w.beatFor(3*validating.ValidationInterval+time.Second, agent, a1+" unhealthy") // the own check expires
				w.see(a1, agentUnhealthy)
			})
		})
	}
}

func TestOutsider_ItsUnhealthyDecidesWhereTheNodeDoesNotCheck(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.beat(w.authority.agent("one", "eu", "a.example"), a1+" unhealthy")
		w.see(a1, agentUnhealthy)
	})
}

func TestOutsider_ItsDrainAndWarningsDoNotCountUntilItIsNamed(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.beatWarned(agent, wire.Warnings{CPUMillis: 1000}, a1+" healthy")
		w.pass(2 * time.Second)
		w.share(a1, 1, true)
		w.see(a1, agentHealthy)
		_, err := w.ApplyDrain(w.ctx(), agent, &wire.Drain{OverMillis: 4000})
		w.must(err)
		w.pass(2 * time.Second)
		w.share(a1, 1, true)
		if w.View().Get(id(a1)).Draining {
			t.Error("it is shown as draining")
		}
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{named(a1, "one")}))
		w.share(a1, 0.1, true) // the warning, because it lowers the share more than the drain
		w.pass(2 * time.Second)
		w.share(a1, 0, false)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.share(a1, 1, true)
	})
}

func TestOutsider_MakesWayForTheNamedAgent(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		one, two := w.authority.agent("one", "eu", "a.example"), w.authority.agent("two", "eu", "a.example")
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{named(a1, "two")}))
		w.verdict(a1, check.Success)
		if got := w.beat(one, a1+" unhealthy", a2+" healthy"); got != nil {
			t.Errorf("refused %v", got)
		}
		w.see(a1, outsiderUnhealthy)
		// The refused backend is a2: no declaration names the agent for it.
		if got := w.beat(two, a1+" unhealthy", a2+" healthy"); !slices.Equal(got, []string{"conflicting_claim"}) {
			t.Errorf("the named agent: refused %v", got)
		}
		w.see(a1, agentUnhealthy)
		if got := w.beat(one, a1+" healthy", a2+" healthy"); !slices.Equal(got, []string{"conflicting_claim"}) {
			t.Errorf("the other one: refused %v", got)
		}
		w.see(a1, agentUnhealthy)
		w.see(a2, agentHealthy)
		w.must(w.RemoveAgent(w.ctx(), "one"))
		w.see(a1, agentUnhealthy)
		w.must(w.ApplyGoodbye(w.ctx(), two))
		w.see(a1, validated)
	})
}
