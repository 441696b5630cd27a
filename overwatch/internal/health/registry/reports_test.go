package registry // inside: it uses declarationsPerCommand

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

const (
	a1 = "a.example:10.0.0.1:80"
	a2 = "a.example:10.0.0.2:80"
	b1 = "b.example:10.0.0.1:80"
	d1 = "d.example:10.0.0.1:80"
)

var (
	agentHealthy      = concluded(api.EffectiveHealthy, true, status.ReasonAgentHealthy)
	agentHealthyAside = concluded(api.EffectiveHealthy, true, status.ReasonAgentHealthyIsolated)
	agentUnhealthy    = concluded(api.EffectiveUnhealthy, false, status.ReasonAgentUnhealthy)
	unknown           = concluded(api.EffectiveUnhealthy, false, status.ReasonUnknown)
)

func TestHeartbeat_IsTheWholeState(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example", "b.example")
		w.beat(agent, a1+" healthy", a2+" unhealthy", b1+" none")
		w.see(a1, agentHealthy)
		w.see(a2, agentUnhealthy)
		w.see(b1, unknown)
		if b := w.View().Get(id(a1)); b.AgentID != "one" || b.Region != "eu" || b.Source != api.SourceAgent ||
			b.Reported == nil || !*b.Reported {
			t.Errorf("the record does not show its agent: %+v", b)
		}
		w.beat(agent, a2+" healthy")
		w.seeNone(a1)
		w.seeNone(b1)
		w.see(a2, agentHealthy)
		if got := w.View().Services(); !slices.Equal(got, []string{"a.example"}) {
			t.Errorf("services are %v", got)
		}
	})
}

func TestTransition_ChangesOneBackend(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		outcome, err := w.ApplyTransition(w.ctx(), agent, &wire.Transition{Backend: claims(a1 + " unhealthy")[0]})
		if err != nil || !outcome.Changed {
			t.Fatalf("%+v, %v", outcome, err)
		}
		w.see(a1, agentUnhealthy)
		w.see(a2, agentHealthy)
		if r := w.View().Get(id(a1)).Report(); r.Failures != 1 || r.LastError != "refused" {
			t.Errorf("the details of the transition are not shown: %+v", r)
		}
		outcome, err = w.ApplyTransition(w.ctx(), agent, &wire.Transition{Backend: claims(d1 + " healthy")[0]})
		if err != nil || len(outcome.Refused) != 1 {
			t.Errorf("a foreign service in a transition: %+v, %v", outcome, err)
		}
		w.seeNone(d1)
	})
}

func TestHeartbeat_RefusesByCode(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example", "d.example")
		other := w.authority.agent("two", "eu", "a.example")
		w.beat(other, a2+" healthy")
		heavy := claims(a1 + " healthy")
		heavy[0].Weight = api.MaxWeight + 1
		for _, c := range []struct {
			name string
			said []wire.Backend
			want wire.RejectCode
		}{
			{"a service it did not prove", claims(b1 + " healthy"), wire.CodeNotEnrolled},
			{"an address that its policy excludes", claims("d.example:192.0.2.1:80 healthy"), wire.CodePolicy},
			{"an address that is nobody's", []wire.Backend{{Service: "a.example", Address: addr("0.0.0.0"), Port: 80}},
				wire.CodePolicy},
			{"a multicast address", []wire.Backend{{Service: "a.example", Address: addr("ff02::1"), Port: 80}}, wire.CodePolicy},
			{"no port", []wire.Backend{{Service: "a.example", Address: addr("10.0.0.1")}}, wire.CodePolicy},
			{"a weight out of range", heavy, wire.CodePolicy},
			{"another live agent's backend", claims(a2 + " unhealthy"), wire.CodeConflictingClaim},
		} {
			outcome, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{Backends: append(c.said, claims(d1+" healthy")...)})
			w.must(err)
			if len(outcome.Refused) != 1 || outcome.Refused[0].Code != c.want ||
				outcome.Refused[0].Address != c.said[0].Address {
				t.Errorf("%s: refused %+v, want %s", c.name, outcome.Refused, c.want)
			}
			w.see(d1, agentHealthy)
			w.see(a2, agentHealthy)
		}
		if n := len(slices.Collect(w.View().Backends())); n != 2 {
			t.Errorf("%d backends, want the two that were taken", n)
		}
		if s, _ := w.View().Agent("one"); len(s.Refused) != 1 || s.Backends != 1 {
			t.Errorf("the agent's state does not show what was refused: %+v", s)
		}
	})
}

func TestHeartbeat_TheSameBackendTwiceCountsOnce(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		for range 2 {
			if got := w.beat(agent, a1+" healthy", a1+" unhealthy"); !slices.Equal(got, []string{"conflicting_claim"}) {
				t.Errorf("refused %v", got)
			}
			w.see(a1, agentHealthy)
		}
	})
}

func TestTransition_LimitOfBackends(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		for i := range wire.MaxBackends + 1 {
			said := claims(fmt.Sprintf("a.example:10.0.1.%d:80 healthy", i+1))[0]
			outcome, err := w.ApplyTransition(w.ctx(), agent, &wire.Transition{Backend: said})
			w.must(err)
			if refused := len(outcome.Refused) > 0; refused != (i == wire.MaxBackends) {
				t.Fatalf("backend %d: refused %+v", i+1, outcome.Refused)
			}
			if i == wire.MaxBackends && outcome.Refused[0].Code != wire.CodeLimit {
				t.Errorf("refused with %s", outcome.Refused[0].Code)
			}
		}
	})
}

func TestHeartbeat_ClaimEndsWhenItIsNoLongerAllowed(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example", "b.example")
		w.beat(agent, a1+" healthy", b1+" healthy")
		w.authority.trust.SetTokens(map[string][]string{"a.example": {token},
			"b.example": {"another token of some more characters"}}, nil)
		if got := w.beat(agent, a1+" healthy", b1+" healthy"); !slices.Equal(got, []string{"not_enrolled"}) {
			t.Errorf("refused %v", got)
		}
		w.see(a1, agentHealthy)
		w.seeNone(b1)
	})
}

func TestHeartbeat_ThatWaitedThroughARevocationChangesNothing(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.must(w.authority.trust.Revoke(w.ctx(), "one", "test"))
		w.must(w.RemoveAgent(w.ctx(), "one"))
		w.seeNone(a1)
		if got := w.beat(agent, a1+" healthy"); !slices.Equal(got, []string{"not_enrolled"}) {
			t.Errorf("refused %v", got)
		}
		w.seeNone(a1)
		if _, listed := w.View().Agent("one"); listed || len(w.View().Agents()) > 0 {
			t.Error("the revoked agent is listed again")
		}
	})
}

func TestDeregister_BackendsLeaveAtOnceAndTheAgentStaysListed(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a2)}))
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.must(w.ApplyGoodbye(w.ctx(), agent))
		w.seeNone(a1)
		w.see(a2, concluded(api.EffectiveHealthy, true, status.ReasonRemembered))
		if s, ok := w.View().Agent("one"); !ok || !s.LeftAt.Equal(time.Now()) || s.Backends != 0 {
			t.Errorf("the agent is %+v, %v", s, ok)
		}
		w.beat(agent, a1+" healthy")
		if s, _ := w.View().Agent("one"); s.HasLeft() {
			t.Error("an agent that is heard again still counts as gone")
		}
	})
}

func TestClaim_OthersMayTakeItWhenTheAgentIsGone(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		one, two := w.authority.agent("one", "eu", "a.example"), w.authority.agent("two", "us", "a.example")
		w.beat(one, a1+" healthy", a2+" healthy")
		w.beatFor(DefaultRemoveAfter-time.Second, two)
		for _, s := range []string{a1, a2} {
			if got := w.beat(two, s+" healthy"); !slices.Equal(got, []string{"conflicting_claim"}) {
				t.Errorf("%s just before remove_after: refused %v", s, got)
			}
		}
		w.pass(2 * time.Second)
		if got := w.beat(two, a1+" healthy", a2+" healthy"); got != nil {
			t.Errorf("after remove_after: refused %v", got)
		}
		if b := w.View().Get(id(a1)); b.AgentID != "two" {
			t.Errorf("%s is claimed by %q", a1, b.AgentID)
		}
		if got := w.beat(one, a1+" healthy", a2+" healthy"); !slices.Equal(got,
			[]string{"conflicting_claim", "conflicting_claim"}) {
			t.Errorf("the old agent, returned: refused %v", got)
		}
		w.must(w.RemoveAgent(w.ctx(), "two"))
		if got := w.beat(one, a1+" healthy", a2+" healthy"); got != nil {
			t.Errorf("after the new one was unpinned: refused %v", got)
		}
	})
}

func TestSources_StaticBeforeAPIBeforeAgent(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "agents", "a.example")
		sees := func(source api.Source, weight int, region string) {
			t.Helper()
			b := w.View().Get(id(a1))
			if b.Source != source || b.Weight != weight || b.Region != region || b.Reported == nil || !*b.Reported {
				t.Errorf("source %s, weight %d, region %s, claim %v; want %s, %d, %s and a claim", b.Source, b.Weight, b.Region,
					b.Reported, source, weight, region)
			}
		}
		w.beat(agent, a1+" healthy")
		sees("agent", 100, "agents")
		w.must(w.ChangeDeclarations(w.ctx(), []Declaration{{ID: id(a1), Weight: 7, Region: "api", Check: unique.Make(tcp)}},
			nil))
		sees("api", 7, "api")
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{{ID: id(a1), Weight: 3, Region: "file",
			Check: unique.Make(tcp)}}))
		sees("static", 3, "file")
		w.must(w.SetStaticDeclarations(w.ctx(), nil))
		sees("api", 7, "api")
		w.must(w.ChangeDeclarations(w.ctx(), nil, []ID{id(a1)}))
		sees("agent", 100, "agents")
		w.must(w.ApplyGoodbye(w.ctx(), agent))
		w.seeNone(a1)
		w.must(w.ChangeDeclarations(w.ctx(), nil, []ID{id(a1)})) // no declaration exists
		w.seeNone(a1)
	})
}

func TestSetStatic_ErrorLeavesEverythingAsItWas(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		heavy := static(a2)
		heavy.Weight = 1001
		for _, bad := range [][]Declaration{{static(a2), static(a2)}, {static(a2), heavy}, {{ID: ID{Service: "x"}}}} {
			if err := w.SetStaticDeclarations(w.ctx(), bad); err == nil {
				t.Errorf("%v was taken", bad)
			}
		}
		if got := slices.Collect(w.View().Backends()); len(got) != 1 || got[0].ID != id(a1) {
			t.Errorf("left is %v", got)
		}
	})
}

func TestSetStatic_LargeOneIsAppliedServiceByService(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		list := []Declaration{static("big:10.9.9.9:80")}
		for i := range 3 * declarationsPerCommand {
			list = append(list, static(fmt.Sprintf("s%d:10.0.0.%d:80", i/3, i%3+1)),
				static(fmt.Sprintf("big:10.1.%d.%d:80", i/250, i%250+1)))
		}
		w.must(w.SetStaticDeclarations(w.ctx(), list))
		changed := w.changed.sorted()
		if distinct := len(slices.Compact(slices.Clone(changed))); distinct != declarationsPerCommand+1 ||
			distinct != len(changed) {
			t.Errorf("told %d times of %d services", len(changed), distinct)
		}
		if n := len(slices.Collect(w.View().Backends())); n != len(list) {
			t.Errorf("%d backends, want %d", n, len(list))
		}
		w.must(w.SetStaticDeclarations(w.ctx(), list[:1]))
		if got := slices.Collect(w.View().Backends()); len(got) != 1 || got[0].ID != id("big:10.9.9.9:80") {
			t.Errorf("left are %d", len(got))
		}
	})
}

func TestStatic_UnwatchedIsHealthyOnlyWhileNoAgentWatches(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" none", a2+" none")
		w.see(a1, unknown)
		w.see(a2, unknown)
		w.beat(agent, a1+" unhealthy")
		w.see(a1, agentUnhealthy)
	})
}

func TestHeartbeat_WithNothingNewReplacesNothing(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" unhealthy")
		before := w.View().Service("a.example")
		changed, generation := w.changed.count(), w.View().CheckTargetsGeneration()
		w.pass(10 * time.Second)
		said := claims(a1+" healthy", a2+" unhealthy")
		said[0].LatencyMicros, said[0].ConsecutiveSuccesses, said[1].LastError = 700, 2, "timeout"
		outcome, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{Backends: said})
		w.must(err)
		after := w.View().Service("a.example")
		if outcome.Changed || &before[0] != &after[0] || w.changed.count() != changed ||
			w.View().CheckTargetsGeneration() != generation {
			t.Error("a heartbeat that only moved figures published something")
		}
		r := after[0].Report()
		if r.Latency != 700*time.Microsecond || r.Successes != 2 || !r.At.Equal(time.Now()) ||
			after[1].Report().LastError != "timeout" {
			t.Errorf("figures are not the newest: %+v, %+v", r, after[1].Report())
		}
	})
}

func TestCheck_DetailsOfTheAgentsCheckAreFollowed(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example").WithAddress(id(a1).Address)
		said := claims(a1+" healthy", a2+" healthy")
		said[0].Check = wire.Check{Type: "grpc",
			Detail: check.Detail{GRPCService: "shop.v1.Orders", Counting: check.Leaky}}
		said[1].Check = wire.Check{Type: "http", Path: "/",
			Detail: check.Detail{Method: "DELETE"}} // a check with side effects
		_, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{Backends: said})
		w.must(err)
		want := check.Detail{GRPCService: "shop.v1.Orders", Counting: check.Leaky}
		if got := w.View().Get(id(a1)).Check(); got.Type != check.GRPC || got.Detail.Detail() != want {
			t.Errorf("the check is %+v", got)
		}
		if got := w.View().Get(id(a2)).Check(); got != tcp {
			t.Errorf("DELETE became %+v", got)
		}
	})
}

func TestCheck_OfALaterVersionBecomesAConnection(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example").WithAddress(id(a2).Address)
		said := claims(a1+" healthy", a2+" healthy")
		said[0].Check = wire.Check{Type: "icmp"}
		said[1].Check = wire.Check{Type: "http", Path: "/up", Host: "h", TimeoutMillis: 1500, IntervalMillis: 4000,
			FailureThreshold: 4, SuccessThreshold: 5}
		_, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{Backends: said})
		w.must(err)
		if got := w.View().Get(id(a1)).Check(); got != tcp {
			t.Errorf("icmp became %+v", got)
		}
		want := check.Spec{Type: check.HTTP, Path: "/up", Host: "h", Timeout: 1500 * time.Millisecond,
			Interval: 4 * time.Second, FailureThreshold: 4, SuccessThreshold: 5}
		if got := w.View().Get(id(a2)).Check(); got != want {
			t.Errorf("the check is %+v, want %+v", got, want)
		}
		want.Interval, want.Timeout = 0, 0 // the times are for the agent; the node uses its own times
		if targets := w.View().CheckTargets(); len(targets) != 2 || targets[1].Spec != want {
			t.Errorf("targets are %+v", targets)
		}
	})
}

func TestChanged_IsToldOnceForEachServiceOfACommand(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example", "b.example")
		w.beat(agent, a1+" healthy", a2+" healthy", b1+" healthy")
		changed := w.changed.sorted()
		if !slices.Equal(changed, []string{"a.example", "b.example"}) {
			t.Errorf("told %v", changed)
		}
	})
}

func TestRefusals_AreLoggedOnceAMinute(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		for range 50 {
			w.beat(agent, b1+" healthy")
			w.pass(time.Second)
		}
		if n := strings.Count(w.log.String(), "refused"); n == 0 || strings.Count(w.log.String(), "\n") != 1 {
			t.Errorf("log:\n%s", w.log.String())
		}
	})
}

func TestCommands_EndWithTheRegistry(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.stop()
		if err := w.SetStaticDeclarations(w.ctx(), nil); !errors.Is(err, ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// A refused backend is listed with the rule, and a transition of another backend does not end the refusal.
func TestTransition_KeepsTheRefusalsOfOtherBackends(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example", "d.example")
		w.beat(agent, a1+" healthy")
		refused := func() (rules []wire.Rule) {
			state, _ := w.View().Agent("one")
			for _, r := range state.Refused {
				rules = append(rules, r.Rule)
			}
			return rules
		}
		say := func(backend wire.Backend) Outcome {
			t.Helper()
			o, err := w.ApplyTransition(w.ctx(), agent, &wire.Transition{Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		outside := claims("d.example:192.0.2.1:80 healthy")[0]
		if o := say(outside); len(o.Refused) != 1 || o.Refused[0].Rule != wire.RuleNetworks {
			t.Errorf("outside of allowed_cidrs: %+v", o)
		}
		if o := say(claims(a1 + " unhealthy")[0]); len(o.Refused) != 0 {
			t.Errorf("the answer names refusals of other backends: %+v", o)
		}
		if got := refused(); len(got) != 1 || got[0] != wire.RuleNetworks {
			t.Errorf("after a transition of another backend: %v", got)
		}
		for port := range uint16(2 * wire.MaxBackends) {
			outside.Port = port + 1
			say(outside)
		}
		if got := len(refused()); got > wire.MaxBackends+1 {
			t.Errorf("%d refusals are stored", got)
		}
		w.beat(agent, a1+" healthy")
		if got := refused(); len(got) != 0 {
			t.Errorf("after the next heartbeat: %v", got)
		}
	})
}
