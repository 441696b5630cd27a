package registry // inside: it shares world_test.go

import (
	"fmt"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/check"
)

// threeRegions contains three regions with one agent each. Each agent reports one backend of each of three names, and
// the node's own checks of all backends succeed. The region eu may get more agents.
type threeRegions struct {
	*world
	brake  status.Protection
	agents [3]trust.Agent
	said   map[string]string // by backend; healthy if it has none
}

const siteNames = 3

func inThreeRegions(t *testing.T, test func(s *threeRegions)) {
	t.Helper()
	inWorld(t, validating, func(w *world) {
		s := &threeRegions{world: w, brake: usualBrake, said: map[string]string{}}
		s.brake.KeepRegion = true
		w.stop()
		w.start(Options{Timing: validating, Protection: func(string) status.Protection { return s.brake }})
		for i, region := range []string{"eu", "us", "ap"} {
			s.agents[i] = w.authority.agent(fmt.Sprintf("agent%d", i), region, "a.example", "b.example", "c.example")
		}
		s.beat()
		s.checks()
		s.live(2 * time.Minute)
		test(s)
	})
}

func spotOf(name, site int) string {
	return fmt.Sprintf("%c.example:10.0.%d.1:80", 'a'+name, site)
}

func (s *threeRegions) beat() {
	for site := range 3 {
		var claims []string
		for name := range siteNames {
			word := s.said[spotOf(name, site)]
			if word == "" {
				word = "healthy"
			}
			claims = append(claims, spotOf(name, site)+" "+word)
		}
		s.world.beat(s.agents[site], claims...)
	}
}

func (s *threeRegions) checks() {
	for site := range 3 {
		for name := range siteNames {
			s.verdict(spotOf(name, site), check.Success)
		}
	}
}

// live lets time pass while agents report and this node's checks succeed.
func (s *threeRegions) live(d time.Duration) {
	for ; d > 0; d -= 10 * time.Second {
		s.pass(min(d, 10*time.Second))
		s.beat()
		s.checks()
	}
}

// say makes the agent of eu report a state of its backends of the first names.
func (s *threeRegions) say(word string, names ...int) {
	for _, name := range names {
		s.said[spotOf(name, 0)] = word
	}
	s.beat()
}

// want compares the numbers of serving and held backends of eu, and the protections with a hold.
func (s *threeRegions) want(when string, serving, held int, subjects ...string) {
	s.t.Helper()
	serves, holds := 0, 0
	var got []string
	for name := range siteNames {
		b := s.View().Get(id(spotOf(name, 0)))
		serves += oneIf(b.MayServe)
		holds += oneIf(b.Held)
	}
	for _, state := range s.View().Holds() {
		n := 0
		for b := range s.View().Backends() {
			n += oneIf(state.Covers(b))
		}
		if n > 0 {
			got = append(got, fmt.Sprintf("%s of agent %q holds %d", state.Subject(), state.Agent, n))
		}
	}
	if serves != serving || holds != held || fmt.Sprint(got) != fmt.Sprint(subjects) {
		s.t.Errorf("%s: %d serve and %d are held by %q, want %d, %d and %q", when, serves, holds, got, serving, held,
			subjects)
	}
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// One agent reports all backends of its region as unhealthy. This is a third of each name, so the names are not
// protected.
func TestProtection_OneAgentAloneNeverRemovesARegion(t *testing.T) {
	const ofRegion = `region eu of agent "agent0" holds 3`
	inThreeRegions(t, func(s *threeRegions) {
		s.say("unhealthy", 0, 1, 2)
		s.want("at once", 3, 3, ofRegion)
		s.live(usualBrake.HoldTime + time.Minute)
		s.want("after the hold of other protections", 3, 3, ofRegion)
		if until := s.View().Holds()[0].Until; !until.IsZero() {
			t.Errorf("it ends at %s", until)
		}
		s.live(time.Hour)
		s.want("after an hour", 3, 3, ofRegion)
		s.verdict(spotOf(1, 0), check.Failure)
		s.want("two witnesses of one backend", 2, 2, `region eu of agent "agent0" holds 2`)
		s.say("healthy", 0, 1, 2)
		s.checks()
		s.want("the agent reports healthy", 3, 0)
		s.live(2 * time.Minute)
		if got := s.View().Holds(); len(got) > 0 {
			t.Errorf("on are %+v", got)
		}
	})
	inThreeRegions(t, func(s *threeRegions) {
		for name := range siteNames { // never two reports within a window
			s.say("unhealthy", name)
			s.live(2 * time.Minute)
		}
		s.want("one after another", 3, 3, ofRegion)
		ids, err := s.ReleaseRegionHold(s.ctx(), "eu")
		if err != nil || len(ids) != 3 {
			t.Errorf("released %v, %v", ids, err)
		}
		s.live(time.Hour)
		s.want("released", 0, 0)
	})
	inThreeRegions(t, func(s *threeRegions) {
		s.brake.KeepRegion = false
		s.say("unhealthy", 0, 1, 2)
		s.live(usualBrake.HoldTime + time.Minute)
		s.want("keep_region is off, and the agent is believed", 0, 0)
	})
	inThreeRegions(t, func(s *threeRegions) {
		s.brake.Enabled = false
		s.say("unhealthy", 0, 1, 2)
		s.want("protection is off", 0, 0)
	})
	inThreeRegions(t, func(s *threeRegions) {
		s.say("unhealthy", 0)
		s.live(2 * time.Minute)
		s.say("unhealthy", 1)
		s.live(2 * time.Minute)
		s.want("the last one serves", 1, 0)
	})
}

// more adds four backends with separate agents to eu, so that two backends of agent0 are less than half of the region.
func (s *threeRegions) more() {
	for n := range 4 {
		spot := fmt.Sprintf("d.example:10.2.%d.1:80", n)
		agent := s.authority.agent(fmt.Sprintf("other%d", n), "eu", "d.example")
		s.world.beat(agent, spot+" healthy")
		s.verdict(spot, check.Success)
	}
}

// The protection also applies to the share of an agent's backends and of a region's backends.
func TestProtection_AgentsAndRegionsHaveAShare(t *testing.T) {
	inThreeRegions(t, func(s *threeRegions) {
		s.more()
		s.say("unhealthy", 0, 1)
		s.want("two of three", 3, 2, `agent agent0 of agent "agent0" holds 2`)
		s.live(usualBrake.HoldTime)
		s.want("believed", 1, 0)
	})
	inThreeRegions(t, func(s *threeRegions) {
		s.more()
		s.say("unhealthy", 0, 1)
		if ids, err := s.ReleaseAgentHold(s.ctx(), "agent0"); err != nil || len(ids) != 2 {
			t.Errorf("released %v, %v", ids, err)
		}
		s.want("released", 1, 0)
		if _, err := s.ReleaseAgentHold(s.ctx(), "nobody"); err == nil {
			t.Error("an agent that nobody knows was released")
		}
	})
	inThreeRegions(t, func(s *threeRegions) { // more than half of the region, by two agents and below half of each name
		var more [4]trust.Agent
		for n := range 4 {
			more[n] = s.authority.agent(fmt.Sprintf("more%d", n), "sa", "a.example", "b.example", "c.example")
			spot := fmt.Sprintf("%c.example:10.1.%d.1:80", 'a'+n%3, n)
			s.world.beat(more[n], spot+" healthy")
			s.verdict(spot, check.Success)
		}
		for n := range 3 {
			s.world.beat(more[n], fmt.Sprintf("%c.example:10.1.%d.1:80 unhealthy", 'a'+n%3, n))
		}
		if got := s.View().Holds(); len(got) != 1 || got[0].Subject() != "region sa" || got[0].Agent != "" ||
			got[0].Until.Sub(got[0].Since) != usualBrake.HoldTime {
			t.Errorf("on are %+v", got)
		}
		s.pass(usualBrake.HoldTime)
		if got := s.View().Holds(); len(got) != 0 {
			t.Errorf("on are %+v after the hold", got)
		}
	})
}

// The hold of a region persists across a restart.
func TestProtection_OfARegionOutlivesARestart(t *testing.T) {
	inThreeRegions(t, func(s *threeRegions) {
		s.say("unhealthy", 0, 1, 2)
		s.live(usualBrake.HoldTime + 2*time.Minute)
		s.restart(Options{Timing: validating, Protection: func(string) status.Protection { return s.brake }})
		s.beat() // before this node's first check
		s.want("restarted", 3, 3, `region eu of agent "agent0" holds 3`)
		s.checks()
		s.live(usualBrake.HoldTime + time.Minute)
		s.want("later", 3, 3, `region eu of agent "agent0" holds 3`)
	})
}

// The release of a name also releases its backends from the holds of agents and regions.
func TestProtection_ANameIsReleasedFromAll(t *testing.T) {
	inThreeRegions(t, func(s *threeRegions) {
		s.say("unhealthy", 0, 1, 2)
		ids, err := s.ReleaseServiceHold(s.ctx(), "a.example")
		if err != nil || len(ids) != 1 {
			t.Errorf("released %v, %v", ids, err)
		}
		s.live(time.Minute)
		s.want("released", 2, 2, `region eu of agent "agent0" holds 2`)
		s.live(usualBrake.HoldTime)
		s.want("later", 2, 2, `region eu of agent "agent0" holds 2`)
	})
}
