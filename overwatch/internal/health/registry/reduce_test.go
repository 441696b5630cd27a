package registry // inside: it uses minSaveInterval and tick

import (
	"net/netip"
	"strings"
	"testing"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// page is an agent's check of a page.
var page = wire.Check{Type: "http", Path: "/up", FailureThreshold: 3, SuccessThreshold: 2}

// ask makes an agent report backends that all have the same check.
func (w *world) ask(from trust.Agent, c wire.Check, names ...string) {
	w.t.Helper()
	var said []wire.Backend
	for _, name := range names {
		b := claims(name + " healthy")[0]
		b.Check = c
		said = append(said, b)
	}
	_, err := w.ApplyHeartbeat(w.ctx(), from, &wire.Heartbeat{IntervalMillis: 10_000, MissedThreshold: 3, Backends: said})
	w.must(err)
}

// checked compares the checks of backends and the reported reductions.
func (w *world) checked(name string, want check.Type, note string) {
	w.t.Helper()
	b := w.View().Get(id(name))
	if got := b.Check().Type; got != want || !strings.Contains(b.CheckNote(), note) ||
		(note == "") != (b.CheckNote() == "") {
		w.t.Errorf("%s is checked by %s: %q, want %s: %q", name, got, b.CheckNote(), want, note)
	}
}

const elsewhere = "its agent reports from another address"

func TestReduce_TheProtocolIsSpokenWhereTheAgentIsHeardFrom(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.ask(agent, page, a1, a2)
		w.checked(a1, check.TCP, elsewhere)
		w.ask(agent.WithAddress(id(a1).Address), page, a1, a2)
		w.checked(a1, check.HTTP, "")
		w.checked(a2, check.TCP, elsewhere)
		w.ask(agent, page, a1, a2) // a message that proves no address changes nothing
		w.checked(a1, check.HTTP, "")
		generation := w.View().CheckTargetsGeneration()
		outcome, err := w.ApplyTransition(w.ctx(), agent.WithAddress(id(a2).Address),
			&wire.Transition{Backend: claims(b1 + " healthy")[0]})
		if err != nil || len(outcome.Refused) != 1 {
			t.Fatal(outcome, err)
		}
		w.checked(a1, check.TCP, elsewhere)
		w.checked(a2, check.HTTP, "")
		if w.View().CheckTargetsGeneration() == generation {
			t.Error("the new checks are not told")
		}
	})
}

func TestReduce_WhatIsLeftOutIsSaidAndTheAgentsWordCounts(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example").WithAddress(id(a1).Address)
		asked := page
		asked.BodyMatches, asked.BodyContains = "(?:"+strings.Repeat("a", 225)+"){1000}b", "ok"
		w.ask(agent, asked, a1)
		w.checked(a1, check.HTTP, "only its agent decides body_contains and body_matches")
		if d := w.View().Get(id(a1)).Check().Detail; d != (check.Details{}) {
			t.Errorf("the node's check has %s", d)
		}
		asked.Headers = "Metadata-Flavor: Google"
		w.ask(agent, asked, a1)
		w.checked(a1, check.TCP, "its agent's check has headers")
		w.see(a1, agentHealthy)
		w.beat(agent, a1+" unhealthy")
		w.see(a1, agentUnhealthy)
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.checked(a1, check.TCP, "")
	})
}

func TestReduce_TheOperatorsWordCounts(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		var policy CheckPolicy
		w.stop()
		w.start(Options{Timing: validating, CheckPolicy: func(ID) CheckPolicy { return policy }})
		agent := w.authority.agent("one", "eu", "a.example")
		w.ask(agent, page, a1)
		w.checked(a1, check.TCP, elsewhere)
		policy = CheckPolicy{Trusted: true}
		w.must(w.ApplyPolicies(w.ctx()))
		w.checked(a1, check.HTTP, "")
		mine := tcp
		mine.Type, mine.Path, mine.Interval = check.HTTPS, "/mine", time.Hour
		mine.Detail = check.Detail{Headers: "A: b", BodyMatches: "ok"}.Details()
		policy.Check = unique.Make(mine)
		w.must(w.ApplyPolicies(w.ctx()))
		w.checked(a1, check.HTTPS, "overwatch.agent_policies")
		if targets := w.View().CheckTargets(); len(targets) != 1 || targets[0].Spec != mine {
			t.Errorf("targets are %+v", targets)
		}
		w.verdict(a1, check.Success)
		w.beatFor(10*time.Minute, agent, a1+" healthy")
		if b := w.View().Get(id(a1)); b.Reason != status.ReasonAgreed {
			t.Errorf("a verdict of %s ago does not count: %s", 10*time.Minute, b.Reason)
		}
		policy = CheckPolicy{}
		w.must(w.ApplyPolicies(w.ctx()))
		w.checked(a1, check.TCP, "")
	})
}

// The node reduces stored checks, of this or an older version, like received checks.
func TestReduce_WhatAnOldStoreHolds(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.stop()
		old := func(name string, spec check.Spec) store.Status {
			s := emptyStatus(id(name))
			s.AgentID, s.AgentSourced, s.Healthy, s.Weight, s.Check, s.At = "one", true, true, 1, spec, time.Now()
			return s
		}
		hostile := tcp
		hostile.Type, hostile.Path, hostile.Address = check.HTTP, "/latest/meta-data", netip.MustParseAddr("169.254.169.254")
		hostile.Detail = check.Detail{BodyMatches: "(?:" + strings.Repeat("a", 225) + "){1000}b"}.Details()
		saved := []store.Status{old(a1, hostile), old(a2, check.Spec{Type: "no such", Interval: -1}), old(b1, check.Spec{})}
		known := tcp
		known.Type, known.Path = check.HTTP, "/up"
		known.Detail = check.Detail{BodyMatches: "(?:a{900}){900}("}.Details()
		saved = append(saved, old(d1, known))
		saved[3].HeardAt, saved[3].AgentID = id(d1).Address, "two"
		began := time.Now()
		w.start(Options{Timing: validating, Restored: saved})
		if took := time.Since(began); took != 0 { // of virtual time: nothing waits
			t.Errorf("the start took %s", took)
		}
		w.checked(a1, check.TCP, "only looks whether the port is open")
		w.checked(a2, check.TCP, elsewhere)
		w.checked(b1, check.TCP, elsewhere)
		w.checked(d1, check.HTTP, "only its agent decides body_matches")
		for _, name := range []string{a1, a2, b1, d1} {
			if !w.View().Get(id(name)).MayServe {
				t.Errorf("%s stopped serving", name)
			}
		}
	})
}

func TestReduce_WhereTheAgentWasHeardFromOutlivesTheProcess(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example").WithAddress(id(a1).Address)
		w.ask(agent, page, a1)
		w.pass(minSaveInterval + tick)
		w.restart(Options{Timing: validating})
		w.checked(a1, check.HTTP, "")
		if saved := w.disk.all(); len(saved) != 1 || saved[0].HeardAt != id(a1).Address {
			t.Errorf("saved is %+v", saved)
		}
	})
}
