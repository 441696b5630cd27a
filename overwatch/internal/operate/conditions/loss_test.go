package conditions // inside: it shares ready_test.go

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// inRegions declares healthy backends: of each of two names, one in eu and one in us.
func inRegions(t *testing.T, test func(n *node)) {
	inNode(t, func(n *node) {
		var all []registry.Declaration
		for _, id := range regionIDs() {
			region := "eu"
			if id.Address == netip.MustParseAddr("192.0.2.2") {
				region = "us"
			}
			all = append(all, registry.Declaration{ID: id, Weight: 1, Region: region,
				Check: unique.Make(check.Spec{Type: check.TCP})})
		}
		n.must(n.registry.SetStaticDeclarations(n.t.Context(), all))
		for i := range all {
			n.check(i, check.Success, check.StateHealthy)
		}
		test(n)
	})
}

// regionIDs returns the backends of a.example in eu and us, followed by the backends of b.example.
func regionIDs() (ids []registry.ID) {
	for _, service := range []string{"a.example", "b.example"} {
		for octet := byte(1); octet <= 2; octet++ {
			ids = append(ids, registry.ID{Service: service, Address: netip.AddrFrom4([4]byte{192, 0, 2, octet}), Port: 80})
		}
	}
	return ids
}

func (n *node) check(i int, outcome check.Outcome, state check.State) {
	n.t.Helper()
	v := registry.CheckResult{ID: regionIDs()[i], State: state, Outcome: outcome, At: time.Now()}
	if outcome == check.Failure {
		v.Err = "connection refused"
	}
	n.must(n.registry.ApplyCheckResult(n.t.Context(), v))
	time.Sleep(statusAge) // virtual
}

// fail makes the given number of checks of a backend fail. Three failed checks make it unhealthy.
func (n *node) fail(i, failures int) {
	n.t.Helper()
	for range failures {
		state := check.StateHealthy
		if n.registry.View().Get(regionIDs()[i]).OwnCheck.Failures >= 2 {
			state = check.StateUnhealthy
		}
		n.check(i, check.Failure, state)
	}
}

// wantKinds compares the listed kinds with their subjects, and returns the sentences.
func (n *node) wantKinds(when string, want ...string) (sentences string) {
	n.t.Helper()
	got := []string{}
	for _, c := range n.Conditions() {
		got = append(got, strings.TrimSpace(string(c.Kind)+" "+c.Subject))
		sentences += c.Sentence + "\n"
	}
	slices.Sort(got)
	slices.Sort(want)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		n.t.Errorf("%s: %q, want %q\n%s", when, got, want, sentences)
	}
	return sentences
}

// A region without a serving backend has one condition, which lasts until all of its backends serve.
func TestLosses_ARegionHasOneConditionUntilAllServe(t *testing.T) {
	inRegions(t, func(n *node) {
		n.fail(0, 3)
		n.wantKinds("one of two", "backend_unwell a.example:192.0.2.1:80")
		n.fail(2, 2) // one more makes it unhealthy
		said := n.wantKinds("the other one fails", "region_lost eu")
		if want := "region eu is lost: 1 of 2 backends of 1 name stopped serving, and the others fail their checks: " +
			"a.example:192.0.2.1:80: connection refused\n"; said != want {
			t.Errorf("%q, want %q", said, want)
		}
		n.fail(2, 1)
		said = n.wantKinds("both", "region_lost eu")
		if want := "region eu is lost: none of its 2 backends of 2 names serves: a.example:192.0.2.1:80: connection " +
			"refused, b.example:192.0.2.1:80: connection refused\n"; said != want {
			t.Errorf("%q, want %q", said, want)
		}
		if status, message := n.Judgement(); status != api.ServiceDegraded || message != api.RegionLost.TypeOf().Public {
			t.Errorf("%s: %s", status, message)
		}
		if c := n.Standing(); len(c) != 1 || c[0].State != StateLost {
			t.Errorf("%+v", c)
		}
		n.check(0, check.Success, check.StateHealthy)
		said = n.wantKinds("one is back", "region_lost eu")
		want := "region eu is partly back: 1 of 2 backends serve: b.example:192.0.2.1:80: connection refused\n"
		if said != want {
			t.Errorf("%q, want %q", said, want)
		}
		if c := n.Standing(); len(c) != 1 || c[0].State != StatePartlyBack {
			t.Errorf("%+v", c)
		}
		n.check(2, check.Success, check.StateHealthy)
		n.wantKinds("all are back")
	})
}

// A loss ends although one backend still fails. The backend then has a separate condition.
func TestLosses_OneBrokenBackendKeepsNoLoss(t *testing.T) {
	inRegions(t, func(n *node) {
		n.fail(0, 3)
		n.fail(2, 3)
		time.Sleep(2 * partlyBackFor)
		n.wantKinds("lost", "region_lost eu")
		n.check(0, check.Success, check.StateHealthy)
		n.wantKinds("partly back", "region_lost eu")
		time.Sleep(partlyBackFor - statusAge)
		n.wantKinds("partly back for a while", "region_lost eu")
		time.Sleep(statusAge)
		n.wantKinds("the end", "backend_unwell b.example:192.0.2.1:80")
		n.fail(0, 3)
		n.wantKinds("lost again", "region_lost eu")
	})
}

// The condition of a lost region includes the loss of an agent with lost backends in only that region, from the last
// report of the agent until its backends serve.
func TestLosses_ARegionIncludesItsReturningAgent(t *testing.T) {
	down := &registry.Backend{ID: regionIDs()[0]}
	for _, c := range []struct {
		name     string
		agent    group
		silent   bool
		regionUp bool
		want     bool
	}{
		{name: "silent, none serves", agent: group{down: []*registry.Backend{down}}, silent: true, want: true},
		{name: "silent, one serves", agent: group{down: []*registry.Backend{down}, serving: 1}, silent: true},
		{name: "reports again, one serves", agent: group{down: []*registry.Backend{down}, serving: 1}, want: true},
		{name: "one backend is stale", agent: group{down: []*registry.Backend{down}, serving: 1,
			stale: []*registry.Backend{down}}},
		{name: "the region serves", agent: group{down: []*registry.Backend{down}, serving: 1}, regionUp: true},
	} {
		c.agent.regions = map[string]bool{"eu": true}
		l := &losses{regions: map[string]*group{"eu": {lost: !c.regionUp}}, agents: map[string]*group{"agent-1": &c.agent},
			silent: map[string]registry.AgentState{}}
		if c.silent {
			l.silent["agent-1"] = registry.AgentState{ID: "agent-1", Region: "eu"}
		}
		if got := l.foldsAgent("agent-1"); got != c.want {
			t.Errorf("%s: included: %t, want %t", c.name, got, c.want)
		}
	}
}

// Backends that an operator stopped, and backends without a check result, cause no loss.
func TestLosses_OperatorsLoseNothing(t *testing.T) {
	inRegions(t, func(n *node) {
		n.override("a.example", 1, false)
		n.drain("b.example", 1, time.Millisecond, 0)
		time.Sleep(time.Second)
		n.wantKinds("all of eu", "override_in_force a.example 192.0.2.1", "drain_in_force b.example:192.0.2.1:80")
	})
	inNode(t, func(n *node) {
		n.have("a.example 1 n", "b.example 2 h")
		for _, c := range n.Conditions() {
			if c.Kind == api.RegionLost {
				t.Errorf("%+v", c)
			}
		}
	})
}

// The text about an own check does not describe a failing check as healthy.
func TestOwnCheck_DescribesTheLastChecks(t *testing.T) {
	inRegions(t, func(n *node) {
		said := func() string { return OwnCheck(n.registry.View().Get(regionIDs()[0])) }
		want := func(text string) {
			t.Helper()
			if got := said(); got != text {
				t.Errorf("%q, want %q", got, text)
			}
		}
		want("healthy")
		n.fail(0, 1)
		want("failing (1 of 3): connection refused")
		n.fail(0, 2)
		want("unhealthy: connection refused")
		n.check(0, check.Success, check.StateUnhealthy)
		want("recovering (1 of 2)")
		n.check(0, check.Success, check.StateHealthy)
		want("healthy")
		n.must(n.registry.ApplyCheckResult(n.t.Context(), registry.CheckResult{ID: regionIDs()[0], State: check.StateHealthy,
			Err: "too many open files"}))
		want("healthy, the last check could not run: too many open files")
		first := *n.registry.View().Get(regionIDs()[0])
		first.OwnCheck = registry.OwnCheck{LastError: "connection refused", Failures: 1}
		if got := OwnCheck(&first); got != "failing (1 of 3): connection refused" {
			t.Errorf("before the first result: %q", got)
		}
		first.OwnCheck.Failures = 0
		if got := OwnCheck(&first); got != "no result yet, the last check could not run: connection refused" {
			t.Errorf("before the first result: %q", got)
		}
	})
}
