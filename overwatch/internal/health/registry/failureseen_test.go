package registry // inside: it shares world_test.go

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// FailureSeen is called for a serving backend, once per failure: for the first failed own check, and for the change of
// an agent's report to unhealthy.
func TestFailureSeen(t *testing.T) {
	const own, reported, foreign = "c.example:192.0.2.1:80", "a.example:192.0.2.2:80", "b.example:192.0.2.3:80"
	inWorld(t, validating, func(w *world) {
		var mu sync.Mutex
		var seen []ID
		w.restart(Options{Timing: validating, FailureSeen: func(id ID) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, id)
		}})
		want := func(step string, ids ...string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if !slices.EqualFunc(seen, ids, func(got ID, s string) bool { return got == id(s) }) {
				t.Errorf("%s: %v, want %v", step, seen, ids)
			}
			seen = nil
		}
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(own), named(foreign, "nobody")}))
		for _, s := range []string{own, foreign} {
			w.verdict(s, check.Success)
		}
		agent := w.authority.agent("a1", "eu", "a.example", "b.example")
		w.beat(agent, reported+" healthy", foreign+" healthy")
		want("all serve")
		w.verdict(own, check.Failure)
		want("the first failed check", own)
		w.verdict(own, check.Failure)
		want("the second failed check")
		w.verdict(own, check.Success)
		w.must(w.ApplyCheckResult(w.ctx(), CheckResult{ID: id(own), State: check.StateHealthy, Outcome: check.Failure}))
		want("a failed check below the threshold", own)
		w.must(w.ApplyCheckResult(w.ctx(), CheckResult{ID: id(own), State: check.StateHealthy, Outcome: check.Unknown}))
		want("a check that could not run")
		w.beat(agent, reported+" unhealthy", foreign+" unhealthy")
		want("a report, and a report of an unauthorized agent", reported)
		w.beat(agent, reported+" unhealthy", foreign+" unhealthy")
		want("the same report")
	})
}

// ReportContradicts is called when a changed report differs from the own check: once for a change, and only for the
// agent that is authorized.
func TestReportContradicts(t *testing.T) {
	const foreign = "b.example:192.0.2.3:80"
	inWorld(t, validating, func(w *world) {
		var asked lateBackends
		w.restart(Options{Timing: validating, ReportContradicts: asked.add})
		want := func(step, ids string) {
			t.Helper()
			if got := asked.take(); got != ids {
				t.Errorf("%s: %q, want %q", step, got, ids)
			}
		}
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{named(foreign, "nobody")}))
		agent := w.authority.agent("a1", "eu", "a.example", "b.example")
		w.beat(agent, a1+" unhealthy", foreign+" healthy")
		want("no own check", "")
		w.verdict(a1, check.Failure)
		w.verdict(foreign, check.Failure)
		want("a failed check", "")
		w.beat(agent, a1+" healthy", foreign+" unhealthy")
		want("the agent reports the recovery", a1)
		w.beat(agent, a1+" healthy", foreign+" healthy")
		want("the same report, and one of an unauthorized agent", "")
		w.verdict(a1, check.Success)
		want("the own check agrees", "")
		w.beat(agent, a1+" unhealthy")
		want("the agent reports a failure", a1)
		for range 100 {
			w.beat(agent, a1+" healthy")
			w.beat(agent, a1+" unhealthy")
			w.pass(100 * time.Millisecond)
		}
		most := wire.MaxBackends + 10 // in ten seconds
		if got := strings.Count(asked.take(), a1); got > most {
			t.Errorf("%d calls for an agent that alternates, want at most %d", got, most)
		}
	})
}

// An agent that alternates its reports does not use up the hints of the node: after one report of each backend, it
// causes one hint per second. Other agents still cause hints.
func TestFailureSeen_IsBoundedForEachAgent(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		var seen lateBackends
		w.restart(Options{Timing: validating, FailureSeen: seen.add})
		flips, other := w.authority.agent("a1", "eu", "a.example"), w.authority.agent("b1", "eu", "b.example")
		w.beat(other, b1+" healthy")
		for range 100 {
			w.beat(flips, a1+" healthy")
			w.beat(flips, a1+" unhealthy")
			w.pass(100 * time.Millisecond)
		}
		want := wire.MaxBackends + 10 // in ten seconds
		if got := strings.Count(seen.take(), a1); got < want-1 || got > want {
			t.Errorf("%d hints of an agent, want %d", got, want)
		}
		w.beat(other, b1+" unhealthy")
		if got := seen.take(); got != b1 {
			t.Errorf("hints of another agent: %q", got)
		}
	})
}
