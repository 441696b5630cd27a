package registry // inside: it uses tick

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/check"
)

// sites contains agents in regions, each with two backends of its service, all healthy.
type sites struct {
	w      *world
	agents []trust.Agent
	said   [][]string
}

// site adds an agent with two backends.
func (s *sites) site(region, service string) {
	n := len(s.agents)
	s.agents = append(s.agents, s.w.authority.agent(fmt.Sprintf("agent%d", n), region, service))
	s.said = append(s.said, []string{
		fmt.Sprintf("%s:10.1.%d.1:80 healthy", service, n), fmt.Sprintf("%s:10.1.%d.2:80 healthy", service, n),
	})
}

// round sends one heartbeat of each agent, and a check result of every backend of the agents in checked.
func (s *sites) round(outcome check.Outcome, checked ...int) {
	for i, agent := range s.agents {
		s.w.beat(agent, s.said[i]...)
	}
	for _, i := range checked {
		for _, said := range s.said[i] {
			name, _, _ := strings.Cut(said, " ")
			s.w.verdict(name, outcome)
		}
	}
}

// pass lets time pass while the agents continue to report.
func (s *sites) pass(d time.Duration) {
	for ; d > 0; d -= 10 * time.Second {
		s.w.pass(min(d, 10*time.Second))
		s.round(check.Success)
	}
}

func (s *sites) backend(site int) string {
	name, _, _ := strings.Cut(s.said[site][0], " ")
	return name
}

// inSites runs a test with one agent for each "region service".
func inSites(t *testing.T, test func(s *sites), places ...string) {
	t.Helper()
	inWorld(t, validating, func(w *world) {
		s := &sites{w: w}
		for _, place := range places {
			region, service, _ := strings.Cut(place, " ")
			s.site(region, service)
		}
		test(s)
	})
}

func TestSuspension_TwoRegionsAtOnceMeanThatThisNodeIsCutOff(t *testing.T) {
	inSites(t, func(s *sites) {
		s.round(check.Success, 0, 1, 2)
		s.pass(DefaultValidationInterval)
		s.round(check.Failure, 0)
		s.w.see(s.backend(0), contradicted)
		s.round(check.Failure, 1)
		if !s.w.View().IsIsolated() {
			t.Fatal("not suspended")
		}
		s.round(check.Failure, 2)
		for site := range 3 {
			s.w.see(s.backend(site), agentHealthyAside)
		}
		if v := s.w.View().Get(id(s.backend(0))).OwnCheck; !v.IsIgnored || v.State != check.StateUnhealthy {
			t.Errorf("the verdict that was set aside is not shown: %+v", v)
		}
		if n := strings.Count(s.w.log.String(), "self-isolation began"); n != 1 {
			t.Errorf("said %d times that the node is cut off", n)
		}

		// Checks succeed again: the node uses results again, and no earlier result has removed a backend in the meantime.
		s.pass(DefaultValidationInterval)
		s.round(check.Success, 0)
		s.w.see(s.backend(0), agreed)
		s.round(check.Success, 1)
		s.w.see(s.backend(2), agentHealthyAside)
		s.round(check.Success, 2)
		if s.w.View().IsIsolated() {
			t.Error("still suspended")
		}
		s.round(check.Failure, 2)
		s.w.see(s.backend(2), contradicted)
	}, "eu a.example", "us b.example", "ap c.example")
}

func TestSuspension_TheOnlyRegion(t *testing.T) {
	inSites(t, func(s *sites) {
		s.round(check.Failure, 0, 1)
		if !s.w.View().IsIsolated() {
			t.Error("not suspended")
		}
		s.w.see(s.backend(0), agentHealthyAside)
	}, "eu a.example", "eu b.example")
}

func TestSuspension_OneRegionOfTwoIsThatRegion(t *testing.T) {
	inSites(t, func(s *sites) {
		s.round(check.Success, 2)
		s.round(check.Failure, 0, 1)
		if s.w.View().IsIsolated() {
			t.Error("suspended")
		}
		s.w.see(s.backend(0), contradicted)
	}, "eu a.example", "eu b.example", "us c.example")
}

func TestSuspension_NoSingleAgentAndNoSingleServiceCanCauseIt(t *testing.T) {
	t.Run("one agent is all there is", func(t *testing.T) {
		inSites(t, func(s *sites) {
			s.round(check.Failure, 0)
			s.w.see(s.backend(0), contradicted)
		}, "eu a.example")
	})
	t.Run("agents of one service in regions that they made up", func(t *testing.T) {
		inSites(t, func(s *sites) {
			s.round(check.Success, 2, 3)
			s.round(check.Failure, 0, 1)
			if s.w.View().IsIsolated() {
				t.Error("suspended")
			}
			s.w.see(s.backend(0), contradicted)
		}, "x1 a.example", "x2 a.example", "eu b.example", "us c.example")
	})
}

func TestSuspension_AgentsThatAgreeAreNoContradiction(t *testing.T) {
	inSites(t, func(s *sites) {
		for i := range s.said {
			for j := range s.said[i] {
				s.said[i][j] = strings.Replace(s.said[i][j], "healthy", "unhealthy", 1)
			}
		}
		s.round(check.Failure, 0, 1)
		if s.w.View().IsIsolated() {
			t.Error("suspended")
		}
	}, "eu a.example", "us b.example")
}

func TestSuspension_EndsNotBeforeOneInterval(t *testing.T) {
	inSites(t, func(s *sites) {
		s.round(check.Failure, 0, 1)
		s.round(check.Success, 0, 1)
		if !s.w.View().IsIsolated() {
			t.Error("a suspension flaps")
		}
		s.pass(DefaultValidationInterval + tick)
		if s.w.View().IsIsolated() {
			t.Error("still suspended although every check succeeded")
		}
	}, "eu a.example", "us b.example")
}

func TestSuspension_AStaticBackendStaysAsItWas(t *testing.T) {
	inSites(t, func(s *sites) {
		s.w.must(s.w.SetStaticDeclarations(s.w.ctx(), []Declaration{static(d1)}))
		s.w.verdict(d1, check.Success)
		s.round(check.Failure, 0, 1)
		s.w.verdict(d1, check.Failure)
		if b := s.w.View().Get(id(d1)); !b.MayServe || b.Reason != status.ReasonRemembered {
			t.Errorf("%s, %s", b.Status, b.Reason)
		}
	}, "eu a.example", "us b.example", "us c.example")
}

// During a declaration, servers whose regions change and removed servers are temporarily incomplete. A region that
// seems to have failed at this time is no evidence for self-isolation.
func TestSuspension_HalfAReloadIsNoEvidence(t *testing.T) {
	inSites(t, func(s *sites) {
		in := func(id, region string) Declaration {
			d := static(id)
			d.Region = region
			return d
		}
		const p, q = "p.example:10.0.0.1:80", "q.example:10.0.0.2:80"
		a, b := s.backend(0), s.backend(1)
		s.said[0], s.said[1] = s.said[0][:1], s.said[1][:1]
		s.w.must(s.w.SetStaticDeclarations(s.w.ctx(), []Declaration{in(a, "eu"), in(p, "eu"), in(b, "us"), in(q, "us")}))
		s.w.verdict(p, check.Success)
		s.w.verdict(q, check.Success)
		s.round(check.Failure, 0, 1)
		s.w.see(a, contradicted)
		s.w.must(s.w.SetStaticDeclarations(s.w.ctx(), []Declaration{in(p, "ap"), in(q, "ap")}))
		s.w.see(a, contradicted)
		s.w.see(b, contradicted)
		if s.w.View().IsIsolated() {
			t.Error("suspended")
		}
		// The state after the declaration is evidence.
		s.w.must(s.w.SetStaticDeclarations(s.w.ctx(), []Declaration{in(a, "eu"), in(b, "us"), in(p, "ap"), in(q, "ap")}))
		if !s.w.View().IsIsolated() {
			t.Error("not suspended when the servers are where they are to be")
		}
	}, "ap a.example", "ap b.example")
}

// After a cancelled reload, the node still detects its own isolation.
func TestSuspension_IsNoticedAfterAReloadThatEndedMidway(t *testing.T) {
	inSites(t, func(s *sites) {
		s.w.must(s.w.SetStaticDeclarations(s.w.ctx(), nil))
		ctx, cancel := context.WithCancel(s.w.ctx())
		cancel()
		for range 20 { // the registry may still apply the first command
			_ = s.w.SetStaticDeclarations(ctx, []Declaration{static(d1)})
		}
		s.round(check.Failure, 0, 1)
		if !s.w.View().IsIsolated() {
			t.Error("not suspended")
		}
	}, "eu a.example", "us b.example")
}
