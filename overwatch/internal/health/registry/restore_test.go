package registry // inside: it uses minSaveInterval and tick

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

var (
	remembered     = concluded(api.EffectiveHealthy, true, status.ReasonRemembered)
	rememberedDown = concluded(api.EffectiveUnhealthy, false, status.ReasonRememberedUnhealthy)
)

func TestRestart_BackendsWereCreatedWhenTheyWere(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		created := w.View().Get(id(b1)).CreatedAt
		w.pass(time.Minute)
		w.restart(Options{Timing: validating})
		w.pass(time.Minute)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		w.beat(agent, a1+" healthy")
		for _, text := range []string{b1, a1} {
			if got := w.View().Get(id(text)).CreatedAt; !got.Equal(created) {
				t.Errorf("%s was created %s, is %s", text, created, got)
			}
		}
	})
}

func TestReport_TellsWhenTheLastCheckEnded(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		now := time.Now()
		for _, tc := range []struct{ said, want time.Time }{
			{now.Add(-time.Minute), now.Add(-time.Minute)}, {now.Add(time.Hour), now}, {time.Time{}, now},
		} {
			said := wire.Backend{Service: "a.example", Address: id(a1).Address, Port: 80, Claim: wire.ClaimHealthy}
			if !tc.said.IsZero() {
				said.CheckedAtMillis = uint64(tc.said.UnixMilli())
			}
			_, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{Region: "eu", Backends: []wire.Backend{said}})
			w.must(err)
			if got := w.View().Get(id(a1)).Report().CheckedAt; got.Sub(tc.want).Abs() > time.Millisecond {
				t.Errorf("checked at %s, said %s, is shown as %s", tc.want, tc.said, got)
			}
		}
	})
}

func TestRestart_FirstAnswersAreThoseOfBefore(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1), static("b.example:10.0.0.2:80"),
			static("b.example:10.0.0.3:80")}))
		agent := w.authority.agent("one", "eu", "a.example", "c.example")
		w.beat(agent, a1+" healthy", a2+" unhealthy", "c.example:10.0.0.1:80 healthy")
		w.verdict(b1, check.Success)
		w.verdict("b.example:10.0.0.2:80", check.Failure)
		w.verdict("c.example:10.0.0.1:80", check.Failure)
		w.pass(10 * time.Second)
		w.restart(Options{Timing: validating})

		// Nothing was declared or received yet.
		w.see(a1, remembered)
		w.see(a2, rememberedDown)
		w.see("c.example:10.0.0.1:80", rememberedDown)
		b := w.View().Get(id(a1))
		if b.Weight != 100 || b.Region != "eu" || b.Check() != tcp || b.AgentID != "one" || b.Reported != nil ||
			!b.Report().At.IsZero() {
			t.Errorf("restored as %+v", b)
		}
		if len(w.View().Agents()) != 0 {
			t.Error("an agent that this process has not heard is listed")
		}
		w.seeNone(b1)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1), static("b.example:10.0.0.2:80"),
			static("b.example:10.0.0.3:80")}))
		w.see(b1, remembered)
		w.see("b.example:10.0.0.2:80", rememberedDown)
		w.see("b.example:10.0.0.3:80", unknown)
		if got := w.View().Get(id(b1)).OwnCheck.Latency; got != time.Millisecond {
			t.Errorf("latency restored as %v", got)
		}

		w.beat(agent, a1+" unhealthy", a2+" healthy")
		w.see(a1, agentUnhealthy)
		w.see(a2, agentHealthy)
		w.seeNone("c.example:10.0.0.1:80")
	})
}

// A backend without a result before the restart is still unknown, although its drain or its agent's report was stored.
// It does not count for min_healthy, and the first success of its agent is sufficient.
func TestRestart_WhatNobodyHadJudgedIsUnknown(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		_, err := w.SetDrain(w.ctx(), id(b1), time.Minute)
		w.must(err)
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" none")
		w.pass(10 * time.Second)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		w.see(a1, unknown)
		w.see(b1, unknown)
		if w.View().Get(id(b1)).DrainEndsAt.IsZero() {
			t.Error("its drain was not kept")
		}
	})
}

// failed reports a failed check. The number of failures is below the failure threshold.
func (w *world) failed(s string) {
	w.t.Helper()
	w.must(w.ApplyCheckResult(w.ctx(), CheckResult{ID: id(s), Outcome: check.Failure, Err: "timeout"}))
}

func TestRestart_WhatWasHealthyStaysSoUntilItsThresholdOfFailures(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.verdict(b1, check.Success)
		w.verdict(a1, check.Success)
		w.pass(10 * time.Second)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		for range 2 {
			w.failed(b1)
			w.failed(a1)
			w.see(b1, remembered)
			w.see(a1, remembered)
		}
		if got := w.View().Get(id(b1)).OwnCheck; got.Failures != 2 || got.LastError != "timeout" ||
			got.State != check.StateUnknown {
			t.Errorf("the failures are shown as %+v", got)
		}
		// The agent was restarted too and has no check result yet. Later it has a result.
		w.beat(agent, a1+" none")
		w.see(a1, remembered)
		w.beat(agent, a1+" healthy")
		w.see(a1, agentHealthy)
		w.verdict(b1, check.Failure)
		w.see(b1, failing)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
		w.see(b1, rememberedDown)
		for _, target := range w.View().CheckTargets() {
			if target.WasUnhealthy != (target.ID == id(b1)) {
				t.Errorf("%s: was unhealthy %v", target.ID, target.WasUnhealthy)
			}
		}
	})
}

// A backend that was healthy hours ago serves until the first failed check.
func TestRestart_OldMemoryEndsAtTheFirstFailure(t *testing.T) {
	for name, c := range map[string]struct {
		away time.Duration
		want status.Conclusion
	}{
		"minutes ago":                     {DefaultRemoveAfter, remembered},
		"longer ago than memory is worth": {time.Hour, rememberedDown},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, validating, func(w *world) {
				w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1), static("b.example:10.0.0.2:80")}))
				w.verdict(b1, check.Success)
				w.verdict("b.example:10.0.0.2:80", check.Success)
				w.pass(10 * time.Second)
				w.stop()
				time.Sleep(c.away)
				w.restart(Options{Timing: validating})
				w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1), static("b.example:10.0.0.2:80")}))
				w.see(b1, remembered)
				w.failed(b1)
				w.see(b1, c.want)
				w.verdict("b.example:10.0.0.2:80", check.Success)
				w.see("b.example:10.0.0.2:80", validated)
			})
		})
	}
}

// A restart that enables checks has the same effect as a reload that enables them: a backend without a source serves
// until its first checks, even if it was unhealthy long ago. A backend with an agent has the state of the agent's
// report.
func TestRestart_ThatSwitchesChecksOnTakesNothingOut(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		other := "b.example:10.0.0.2:80"
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1), static(other), static(a2)}))
		w.verdict(other, check.Failure)
		w.beat(w.authority.agent("one", "eu", "a.example"), a2+" unhealthy")
		w.must(w.SetTiming(w.ctx(), notValidating))
		w.pass(10 * time.Second)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1), static(other), static(a2)}))
		w.see(b1, remembered)
		w.see(other, remembered)
		w.see(a2, rememberedDown)
		w.verdict(b1, check.Success)
		w.see(b1, validated)
		w.verdict(other, check.Failure)
		w.see(other, failing)
	})
}

func TestRestart_WithoutItsAgentABackendGoesStaleThenLeaves(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.restart(Options{Timing: notValidating})
		w.see(a1, remembered)
		other := w.authority.agent("two", "eu", "a.example")
		if got := w.beat(other, a1+" healthy"); !slices.Equal(got, []string{"conflicting_claim"}) {
			t.Errorf("a restart opened a window for another agent: refused %v", got)
		}
		w.pass(DefaultStaleThreshold + detectionBound)
		w.see(a1, staleUnknown)
		w.pass(DefaultRemoveAfter)
		w.seeNone(a1)
		w.restart(Options{Timing: notValidating})
		w.seeNone(a1)
	})
}

func TestRestart_ARevokedAgentsBackendsStayAway(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.restart(Options{Timing: notValidating, Allowed: func(agent string, _ ID) bool { return agent != "one" }})
		w.seeNone(a1)
		w.pass(DefaultRemoveAfter + minSaveInterval + tick)
		if left := w.disk.all(); len(left) != 0 {
			t.Errorf("still stored: %v", left)
		}
	})
}

// Fault 30.
func TestRestart_AClaimThatMayBeMadeNoMoreStaysAway(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example", "b.example")
		w.beat(agent, a1+" healthy", b1+" healthy")
		w.restart(Options{Timing: notValidating, Allowed: func(_ string,
			backend ID) bool {
			return backend.Service == "b.example"
		}})
		w.seeNone(a1)
		w.see(b1, remembered)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		if b := w.View().Get(id(a1)); b.AgentID != "" {
			t.Errorf("%s is claimed by %s", a1, b.AgentID)
		}
	})
}

// Fault 30.
func TestReadmit_WithdrawsWhatMayBeClaimedNoMoreAndNothingElse(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		one, two := w.authority.agent("one", "eu", "a.example", "b.example"), w.authority.agent("two", "eu", "a.example")
		w.beat(one, a1+" healthy", b1+" healthy")
		w.beat(two, a2+" healthy")
		w.must(w.WithdrawDisallowed(w.ctx(), "one", func(backend ID) bool { return backend.Service == "b.example" }))
		w.must(w.WithdrawDisallowed(w.ctx(), "nobody", func(ID) bool { return false }))
		w.seeNone(a1)
		w.see(b1, agentHealthy)
		w.see(a2, agentHealthy)
		if got := w.beat(two, a1+" healthy", a2+" healthy"); got != nil {
			t.Errorf("what was withdrawn is refused to another: %v", got)
		}
		w.must(w.ApplyGoodbye(w.ctx(), one)) // does not withdraw reports of the other agent
		w.seeNone(b1)
		w.see(a1, agentHealthy)
	})
}

func TestRestart_StaleStaysOutAndADrainGoesOn(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		one, two := w.authority.agent("one", "eu", "a.example"), w.authority.agent("two", "eu", "a.example")
		w.beat(one, a1+" healthy")
		w.beatFor(time.Minute, two, a2+" healthy")
		w.see(a1, staleUnknown)
		_, err := w.SetDrain(w.ctx(), id(a2), 100*time.Second)
		w.must(err)
		w.beatFor(10*time.Second, two, a2+" healthy")
		w.restart(Options{Timing: notValidating})
		w.see(a1, rememberedDown)
		w.share(a2, 0.9, true)
		w.beatFor(95*time.Second, two, a2+" healthy")
		w.share(a2, 0, false)
		w.must(w.ClearDrain(w.ctx(), id(a2)))
		w.restart(Options{Timing: notValidating})
		w.share(a2, 1, true)
	})
}

// If a backend is removed from the file, its agent's report applies, with or without a restart. A name whose TTL is 0
// drains immediately, and the duration of its drain is 0.
func TestRestart_ADrainThatTookNoTimeGoesOn(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		atOnce := func(string) time.Duration { return 0 }
		w.stop()
		w.start(Options{Timing: notValidating, DrainTime: atOnce})
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" draining")
		_, err := w.SetDrain(w.ctx(), id(a1), 0)
		w.must(err)
		w.restart(Options{Timing: notValidating, DrainTime: atOnce})
		w.share(a1, 0, false)
		w.share(a2, 0, false)
		w.must(w.ClearDrain(w.ctx(), id(a1)))
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.restart(Options{Timing: notValidating, DrainTime: atOnce})
		w.share(a1, 1, true)
		w.share(a2, 1, true)
	})
}

func TestRestart_WhatTheFileOverruledIsTheNewestThatTheAgentSaid(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		declared := []Declaration{{ID: id(a1), Weight: 7, Region: "eu", Check: unique.Make(tcp)}}
		w.must(w.SetStaticDeclarations(w.ctx(), declared))
		one := w.authority.agent("one", "us", "a.example")
		w.beat(one, a1+" healthy")
		w.pass(minSaveInterval + tick)
		said := claims(a1 + " healthy")
		said[0].Weight = 3
		_, err := w.ApplyHeartbeat(w.ctx(), one, &wire.Heartbeat{Region: "ap", Backends: said})
		w.must(err)
		w.restart(Options{Timing: notValidating})
		w.must(w.SetStaticDeclarations(w.ctx(), declared))
		w.must(w.SetStaticDeclarations(w.ctx(), nil))
		if b := w.View().Get(id(a1)); b == nil || b.Weight != 3 || b.Region != "ap" {
			t.Errorf("after the restart it is %+v", b)
		}
	})
}

// The time since which only an agent declares a backend is stored like other times.
func TestRestart_WhatTheFileGaveUpIsTheAgentsAlone(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		one := w.authority.agent("one", "eu", "a.example")
		w.beat(one, a1+" healthy")
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.pass(minSaveInterval + tick)
		w.must(w.SetStaticDeclarations(w.ctx(), nil))
		w.pass(minSaveInterval + tick)
		w.restart(Options{Timing: notValidating})
		w.see(a1, remembered)
	})
}

// An operator's drain belongs to the backend, whichever source reports it after the restart.
func TestRestart_AnOperatorsDrainGoesOnWithoutTheAgent(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.beat(w.authority.agent("one", "eu", "a.example"), a1+" healthy")
		_, err := w.SetDrain(w.ctx(), id(a1), 100*time.Second)
		w.must(err)
		w.pass(10 * time.Second)
		w.restart(Options{Timing: notValidating, Allowed: func(string, ID) bool { return false }})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.share(a1, 0.9, true)
	})
}

// Other messages of an agent after the restart do not confirm its reports. Only its heartbeat does.
func TestRestart_AnAgentIsHeardWithItsHeartbeat(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		one := w.authority.agent("one", "eu", "a.example")
		w.beat(one, a1+" healthy")
		w.pass(minSaveInterval + tick)
		w.restart(Options{Timing: notValidating})
		if outcome := w.signal(one, wire.Warnings{CPUMillis: 1000}, a1); outcome.Changed {
			t.Error("a warning of an agent that was not heard since the restart counts")
		}
		w.pass(validating.StaleThreshold)
		w.see(a1, staleUnknown)
	})
}

// An agent that shuts down may have ended before it reconnects to the node.
func TestRestart_AnAgentsDrainGoesOn(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		one := w.authority.agent("one", "eu", "a.example")
		w.beat(one, a1+" healthy")
		_, err := w.ApplyDrain(w.ctx(), one, &wire.Drain{OverMillis: 20_000})
		w.must(err)
		w.pass(10 * time.Second)
		w.restart(Options{Timing: notValidating})
		w.share(a1, 0.5, true)
		w.pass(10 * time.Second)
		w.share(a1, 0, false)
		w.beat(one, a1+" healthy")
		w.share(a1, 1, true)
		w.restart(Options{Timing: notValidating})
		w.share(a1, 1, true)
	})
}

func TestRestart_EarlyWarningsGoOn(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		one := w.authority.agent("one", "eu", "a.example")
		warned := wire.Warnings{CPUMillis: halfMinute}
		w.beatWarned(one, warned, a1+" healthy")
		w.pass(15 * time.Second)
		w.restart(Options{Timing: notValidating})
		w.share(a1, 0.55, true)
		w.pass(5 * time.Second)
		w.share(a1, 0.4, true)
		w.beatWarned(one, warned, a1+" healthy") // a repeated warning does not restart the ramp
		w.share(a1, 0.4, true)
		w.beat(one, a1+" healthy")
		w.pass(5 * time.Second)
		w.restart(Options{Timing: notValidating})
		w.share(a1, 0.55, true)
		w.pass(15 * time.Second)
		w.share(a1, 1, true)
		w.restart(Options{Timing: notValidating})
		w.share(a1, 1, true)
	})
}

// The warning of an agent that sends nothing after the restart ends.
func TestRestart_TheWarningOfALostAgentEnds(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		one := w.authority.agent("one", "eu", "a.example")
		w.verdict(a1, check.Success)
		for range 2 {
			w.beatWarned(one, wire.Warnings{MemoryMillis: halfMinute}, a1+" healthy")
			w.pass(15 * time.Second)
		}
		w.restart(Options{Timing: validating})
		w.verdict(a1, check.Success)
		w.share(a1, 0.1, true)
		w.pass(DefaultStaleThreshold + detectionBound)
		w.verdict(a1, check.Success)
		w.pass(31 * time.Second)
		w.share(a1, 1, true)
	})
}

func TestDrain_OfALostAgentEndsWithItsClaim(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		one := w.authority.agent("one", "eu", "a.example")
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{{ID: id(a1), Weight: 1, Region: "eu", Check: unique.Make(tcp),
			Agent: "one"}}))
		w.beat(one, a1+" healthy")
		_, err := w.ApplyDrain(w.ctx(), one, &wire.Drain{OverMillis: 20_000})
		w.must(err)
		for range 9 {
			w.pass(30 * time.Second)
			w.verdict(a1, check.Success)
			w.share(a1, 0, false)
		}
		w.pass(30 * time.Second)
		w.verdict(a1, check.Success)
		w.share(a1, 1, true)
	})
}

func TestRestart_OneBadRecordIsNoReasonNotToStart(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.stop()
		good := emptyStatus(id(a1))
		good.AgentID, good.AgentSourced, good.Healthy = "one", true, true
		w.start(Options{
			Timing:      notValidating,
			AdminStates: []AdminState{{Kind: api.OrderOverride, Service: "a.example"}},
			Restored:    []store.Status{{Service: "bad:name", AgentID: "one", AgentSourced: true}, good},
		})
		w.see(a1, remembered)
		if got := w.View().Get(id(a1)).Check(); got != tcp {
			t.Errorf("a check that was not stored became %+v", got)
		}
		if n := strings.Count(w.log.String(), "skipped"); n != 2 {
			t.Errorf("%d lines about what was skipped", n)
		}
	})
}

func TestNew_RefusesOptionsThatCannotWork(t *testing.T) {
	changed := func(string) {}
	for name, o := range map[string]Options{
		"no stale threshold":   {Timing: Timing{RemoveAfter: time.Minute}, Changed: changed},
		"removed before stale": {Timing: Timing{StaleThreshold: time.Minute, RemoveAfter: time.Second}, Changed: changed},
		"no validation interval": {Timing: Timing{StaleThreshold: 1, RemoveAfter: 1, ValidationEnabled: true},
			Changed: changed},
		"nobody is told": {Timing: notValidating},
		"nobody to ask":  {Timing: notValidating, Changed: changed, Restored: make([]store.Status, 1)},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRestart_OverridesAreInForceUnlessExpired(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		short, long := down("a.example", "10.0.0.1", 80), down("a.example", "10.0.0.2", 0)
		short.ExpiresAt = time.Now().Add(time.Minute).Round(0)
		long.ExpiresAt = time.Now().Add(time.Hour).Round(0)
		w.pass(2 * time.Minute)
		w.restart(Options{Timing: notValidating, AdminStates: []AdminState{short, long}})
		if e := w.ended(); len(e) != 1 || e[0].Address != short.Address {
			t.Errorf("told of what has expired meanwhile: %+v", e)
		}
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(a2)}))
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
		w.see(a2, forcedDown)
		w.pass(58*time.Minute + time.Second)
		w.see(a2, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
	})
}

func TestRestart_LastHealthyIsRemembered(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.verdict(a1, check.Success)
		w.pass(time.Minute)
		w.verdict(a1, check.Failure)
		at := time.Now()
		w.pass(time.Minute)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.see(a1, rememberedDown)
		if got := w.View().Get(id(a1)).LastHealthyAt; !got.Equal(at) {
			t.Errorf("last healthy at %v, want %v", got, at)
		}
	})
}
