package registry // inside: it uses status.HoldExpired and its like

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

var (
	held       = concluded(api.EffectiveHealthy, true, status.ReasonHeld)
	calledIll  = concluded(api.EffectiveUnhealthy, false, status.ReasonAgentUnhealthy)
	usualBrake = status.Protection{Enabled: true, Percent: 50, Window: time.Minute, HoldTime: 10 * time.Minute}
)

// crowd contains agents with one backend each of one service. The node's own checks of all backends succeed.
type crowd struct {
	*world
	agents  []trust.Agent
	said    []string // healthy or unhealthy, by agent
	brake   status.Protection
	changes []HoldChange
	asked   []string // backends to be checked at once
}

// inCrowd runs a test with a crowd one hour after its start. Its agents and own checks agree.
func inCrowd(t *testing.T, size int, test func(c *crowd)) {
	t.Helper()
	inWorld(t, validating, func(w *world) {
		c := &crowd{world: w, brake: usualBrake}
		w.stop()
		w.start(c.options())
		for i := range size {
			c.agents = append(c.agents, w.authority.agent(fmt.Sprintf("agent%d", i), "eu", "a.example"))
			c.said = append(c.said, "healthy")
		}
		c.beats()
		for i := range size {
			c.verdict(c.id(i), check.Success)
		}
		c.live(2 * time.Minute)
		test(c)
	})
}

func (c *crowd) options() Options {
	return Options{Timing: validating, Protection: func(string) status.Protection { return c.brake },
		HoldChanged: func(change HoldChange) { c.changes = append(c.changes, change) },
		BackendHeld: func(id ID) { c.asked = append(c.asked, id.String()) }}
}

func (c *crowd) id(i int) string { return fmt.Sprintf("a.example:10.0.0.%d:80", i+1) }

func (c *crowd) beats() {
	for i, agent := range c.agents {
		if c.said[i] != "" {
			c.beat(agent, c.id(i)+" "+c.said[i])
		}
	}
}

// say has agents report at once.
func (c *crowd) say(word string, agents ...int) {
	c.t.Helper()
	for _, i := range agents {
		c.said[i] = word
		c.beat(c.agents[i], c.id(i)+" "+word)
	}
}

// live lets time pass while agents report and the node's checks of all backends succeed.
func (c *crowd) live(d time.Duration) {
	c.t.Helper()
	for ; d > 0; d -= 10 * time.Second {
		c.pass(min(d, 10*time.Second))
		c.beats()
		for i := range c.agents {
			c.verdict(c.id(i), check.Success)
		}
	}
}

// seeHeld compares the held backends, and whether each backend serves.
func (c *crowd) seeHeld(want string, serving int) {
	c.t.Helper()
	var got []string
	serves := 0
	for i := range c.agents {
		b := c.View().Get(id(c.id(i)))
		if b == nil {
			continue
		}
		if b.Held {
			got = append(got, fmt.Sprint(i))
		}
		if b.MayServe {
			serves++
		}
	}
	if s := strings.Join(got, " "); s != want || serves != serving {
		c.t.Errorf("held are %q and %d serve, want %q and %d", s, serves, want, serving)
	}
}

func TestBrake_HoldsWhatAgentsAloneWouldTakeAtOnce(t *testing.T) {
	inCrowd(t, 5, func(c *crowd) {
		c.say("unhealthy", 0, 1)
		c.seeHeld("", 3)
		c.live(30 * time.Second)
		c.say("unhealthy", 2)
		c.seeHeld("0 1 2", 5)
		c.see(c.id(2), held)
		c.say("unhealthy", 3) // later reports are held too
		c.live(5 * time.Minute)
		c.say("unhealthy", 4)
		c.seeHeld("0 1 2 3 4", 5)
		if want := []string{c.id(0), c.id(1), c.id(2), c.id(3), c.id(4)}; !slices.Equal(c.asked, want) {
			t.Errorf("to be checked are %v", c.asked)
		}
		if got := c.View().Holds(); len(got) != 1 || got[0].Service != "a.example" ||
			got[0].Until.Sub(got[0].Since) != usualBrake.HoldTime {
			t.Errorf("brakes are %+v", got)
		}
		c.live(4*time.Minute + 50*time.Second)
		c.seeHeld("0 1 2 3 4", 5)
		c.live(20 * time.Second) // the hold is over
		c.seeHeld("", 0)
		c.see(c.id(0), calledIll)
		c.live(20 * time.Minute) // the same report is not held again
		c.seeHeld("", 0)
		if len(c.changes) != 2 || !c.changes[0].Began || len(c.changes[0].Backends) != 3 || c.changes[1].Began ||
			len(c.changes[1].Backends) != 5 || c.changes[1].EndReason != status.HoldExpired || len(c.View().Holds()) != 0 {
			t.Errorf("told of %+v", c.changes)
		}
		c.say("healthy", 0, 1, 2, 3, 4)
		c.live(time.Minute)
		c.say("unhealthy", 0, 1, 2) // a new report is held
		c.seeHeld("0 1 2", 5)
	})
}

func TestBrake_BelievesFewSlowAndSmall(t *testing.T) {
	inCrowd(t, 5, func(c *crowd) { // at most half of the backends
		c.say("unhealthy", 0, 1)
		c.live(5 * time.Minute)
		c.seeHeld("", 3)
	})
	inCrowd(t, 9, func(c *crowd) { // more than half, but never within a window
		for i := range 5 {
			c.say("unhealthy", i)
			c.live(30 * time.Second)
		}
		c.seeHeld("", 4)
	})
	inCrowd(t, 2, func(c *crowd) {
		c.say("unhealthy", 0, 1)
		c.seeHeld("", 0)
	})
}

func TestBrake_OnlyThisMinutesWordsAreHeld(t *testing.T) {
	inCrowd(t, 5, func(c *crowd) {
		c.say("unhealthy", 0)
		c.live(2 * time.Minute)
		c.say("unhealthy", 1, 2, 3)
		c.seeHeld("1 2 3", 4)
	})
}

func TestBrake_TwoWitnessesThatAgreeAreNeverHeld(t *testing.T) {
	inCrowd(t, 4, func(c *crowd) {
		c.verdict(c.id(0), check.Failure)
		c.say("unhealthy", 0, 1, 2)
		c.seeHeld("1 2", 3)
		for _, i := range []int{1, 2} { // one failed check is enough
			v := CheckResult{ID: id(c.id(i)), Outcome: check.Failure, State: check.StateHealthy, Err: "refused"}
			c.must(c.ApplyCheckResult(c.ctx(), v))
		}
		c.seeHeld("", 1)
		c.verdict(c.id(1), check.Success) // the report is still not held
		c.seeHeld("", 1)
		c.say("unhealthy", 3)
		c.live(90 * time.Second)
		c.seeHeld("3", 1)
	})
}

func TestBrake_WithoutAWitnessNothingIsHeld(t *testing.T) {
	inWorld(t, validating, func(w *world) { // the node's check tests less than the agents' check
		w.stop()
		w.start(Options{Timing: validating, Protection: func(string) status.Protection { return usualBrake }})
		var agents []trust.Agent
		for n := range 4 {
			agents = append(agents, w.authority.agent(fmt.Sprintf("agent%d", n), "eu", "a.example"))
		}
		for i, word := range []string{"healthy", "unhealthy"} {
			for n, agent := range agents {
				said := claims(fmt.Sprintf("a.example:10.0.0.%d:80 %s", n+1, word))
				said[0].Check = wire.Check{Type: "http", Path: "/", Detail: check.Detail{BodyContains: "ok"}}
				_, err := w.ApplyHeartbeat(w.ctx(), agent, &wire.Heartbeat{Backends: said})
				w.must(err)
				w.verdict(fmt.Sprintf("a.example:10.0.0.%d:80", n+1), check.Success)
			}
			if i == 1 {
				for n := range 4 {
					w.see(fmt.Sprintf("a.example:10.0.0.%d:80", n+1), calledIll)
				}
			}
		}
	})
	inCrowd(t, 4, func(c *crowd) { // the node makes no own checks
		c.must(c.SetTiming(c.ctx(), notValidating))
		c.say("unhealthy", 0, 1, 2, 3)
		c.seeHeld("", 0)
	})
}

func TestBrake_DeclaredWithoutACheckIsWorthAConnection(t *testing.T) {
	for _, tc := range []struct {
		asked wire.Check
		want  status.Conclusion
	}{{wire.Check{Type: "tcp"}, held}, {wire.Check{Type: "http", Path: "/health"}, calledIll}} {
		inWorld(t, validating, func(w *world) {
			w.stop()
			w.start(Options{Timing: validating, Protection: func(string) status.Protection { return usualBrake }})
			name := func(n int) string { return fmt.Sprintf("a.example:10.0.0.%d:80", n+1) }
			var all []Declaration
			for n := range 3 {
				d := Declaration{ID: id(name(n)), Weight: 1, Region: "eu", Agent: fmt.Sprintf("agent%d", n)}
				all = append(all, d)
			}
			w.must(w.SetStaticDeclarations(w.ctx(), all))
			for n := range 3 {
				w.verdict(name(n), check.Success)
			}
			for n := range 3 {
				said := claims(name(n) + " unhealthy")
				said[0].Check = tc.asked
				_, err := w.ApplyHeartbeat(w.ctx(), w.authority.agent(all[n].Agent, "eu", "a.example"),
					&wire.Heartbeat{Backends: said})
				w.must(err)
			}
			w.see(name(2), tc.want)
		})
	}
}

func TestBrake_OperatorsComeFirst(t *testing.T) {
	inCrowd(t, 4, func(c *crowd) {
		c.say("unhealthy", 0, 1, 2)
		c.seeHeld("0 1 2", 4)
		c.must(c.SetAdminState(c.ctx(), down("a.example", "10.0.0.1", 0)))
		c.see(c.id(0), concluded(api.EffectiveUnhealthy, false, status.ReasonOverrideUnhealthy))
		c.seeHeld("1 2", 3)
		_, err := c.SetDrain(c.ctx(), id(c.id(1)), time.Millisecond)
		c.must(err)
		c.pass(time.Second)
		c.seeHeld("2", 2)
		c.must(c.ClearAdminState(c.ctx(), api.OrderOverride, "a.example", addr("10.0.0.1"), 0))
		c.must(c.ClearDrain(c.ctx(), id(c.id(1))))
		c.seeHeld("0 1 2", 4)
		ids, err := c.ReleaseServiceHold(c.ctx(), "a.example")
		if err != nil || !slices.Equal(ids, []ID{id(c.id(0)), id(c.id(1)), id(c.id(2))}) {
			t.Errorf("released %v, %v", ids, err)
		}
		c.seeHeld("", 1)
		c.live(time.Minute)
		c.seeHeld("", 1)
		if ids, err = c.ReleaseServiceHold(c.ctx(), "a.example"); err != nil || len(ids) != 0 {
			t.Errorf("released %v again, %v", ids, err)
		}
		if _, err := c.ReleaseServiceHold(c.ctx(), "other"); err == nil {
			t.Error("a service that nobody knows was released")
		}
	})
}

func TestBrake_WhatIsOverriddenOrDrainedIsNotTakenByAgents(t *testing.T) {
	inCrowd(t, 5, func(c *crowd) {
		c.must(c.SetAdminState(c.ctx(), down("a.example", "10.0.0.1", 0)))
		_, err := c.SetDrain(c.ctx(), id(c.id(1)), time.Millisecond)
		c.must(err)
		c.pass(time.Second)
		c.say("unhealthy", 0, 1, 2)
		c.seeHeld("", 2)
	})
}

func TestBrake_SilenceAndGoodbyeAreNoWord(t *testing.T) {
	inCrowd(t, 4, func(c *crowd) {
		for i := range 3 {
			c.said[i] = ""
		}
		c.live(time.Minute)
		c.seeHeld("", 4) // stale, and this node's checks succeed
		if len(c.changes) > 0 {
			t.Errorf("told of %+v", c.changes)
		}
		c.say("unhealthy", 0, 1, 2) // this exceeds the share
		c.seeHeld("0 1 2", 4)
		for i := range 2 {
			c.said[i] = ""
			c.must(c.ApplyGoodbye(c.ctx(), c.agents[i]))
		}
		c.seeHeld("2", 2)
		c.said[2] = ""
		c.pass(DefaultStaleThreshold)
		c.verdict(c.id(2), check.Success)
		c.seeHeld("", 2)
		c.see(c.id(2), concluded(api.EffectiveStale, true, status.ReasonStaleValidated))
	})
}

func TestBrake_EndsAWindowAfterNothingIsHeld(t *testing.T) {
	inCrowd(t, 4, func(c *crowd) {
		c.say("unhealthy", 0, 1, 2)
		c.live(2 * time.Minute)
		for range 3 { // flapping reports are still held, and do not prolong the hold
			c.say("healthy", 0, 1, 2)
			c.seeHeld("", 4)
			c.live(30 * time.Second)
			c.say("unhealthy", 0, 1, 2)
			c.seeHeld("0 1 2", 4)
			c.live(30 * time.Second)
		}
		if len(c.changes) != 1 {
			t.Errorf("told of %+v", c.changes)
		}
		c.say("healthy", 0, 1, 2)
		c.live(90 * time.Second)
		if len(c.changes) != 2 || c.changes[1].EndReason != status.HoldEmpty {
			t.Errorf("told of %+v", c.changes)
		}
		c.say("unhealthy", 0)
		c.seeHeld("", 3)
	})
}

func TestBrake_WhatDidNotServeIsNotTaken(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.stop()
		w.start(Options{Timing: validating, Protection: func(string) status.Protection { return usualBrake }})
		for n := range 4 { // the first reports of the agents are unhealthy
			w.beat(w.authority.agent(fmt.Sprintf("agent%d", n), "eu", "a.example"),
				fmt.Sprintf("a.example:10.0.0.%d:80 unhealthy", n+1))
			w.verdict(fmt.Sprintf("a.example:10.0.0.%d:80", n+1), check.Success)
		}
		for n := range 4 {
			w.see(fmt.Sprintf("a.example:10.0.0.%d:80", n+1), calledIll)
		}
	})
}

func TestBrake_GoesOnAfterARestart(t *testing.T) {
	inCrowd(t, 4, func(c *crowd) {
		c.say("unhealthy", 0, 1, 2, 3)
		c.live(5 * time.Minute)
		c.restart(c.options())
		c.seeHeld("", 4) // no agent has reported
		c.beats()
		c.seeHeld("0 1 2 3", 4) // before this node's first check
		c.live(4*time.Minute + 40*time.Second)
		c.seeHeld("0 1 2 3", 4)
		c.live(30 * time.Second)
		c.seeHeld("", 0)
	})
	inCrowd(t, 4, func(c *crowd) {
		c.say("unhealthy", 0, 1, 2, 3)
		c.pass(5 * time.Second)
		c.restart(c.options())
		c.beats()
		c.verdict(c.id(0), check.Failure) // the own check now fails, so the hold ends
		c.seeHeld("1 2 3", 3)
		c.failed(c.id(1)) // one failed check is sufficient, although the threshold is three
		c.seeHeld("2 3", 2)
	})
}

func TestBrake_FollowsItsSettings(t *testing.T) {
	inCrowd(t, 4, func(c *crowd) {
		c.say("unhealthy", 0, 1, 2)
		c.seeHeld("0 1 2", 4)
		c.brake.Enabled = false
		c.must(c.SetTiming(c.ctx(), validating))
		c.seeHeld("", 1)
		if last := c.changes[len(c.changes)-1]; last.Began || last.EndReason != status.HoldDisabled {
			t.Errorf("told of %+v", last)
		}
	})
}

func TestBrake_EachNameHasItsOwn(t *testing.T) {
	inCrowd(t, 3, func(c *crowd) {
		for _, agent := range c.agents {
			c.must(c.ApplyGoodbye(c.ctx(), agent))
		}
		other := func(i int) string { return strings.Replace(c.id(i), "a.example", "b.example", 1) }
		for i := range c.agents {
			c.agents[i] = c.authority.agent(fmt.Sprintf("both%d", i), "eu", "a.example", "b.example")
			c.beat(c.agents[i], c.id(i)+" healthy", other(i)+" healthy")
			c.verdict(c.id(i), check.Success)
			c.verdict(other(i), check.Success)
		}
		for i := range 2 {
			c.beat(c.agents[i], c.id(i)+" unhealthy", other(i)+" healthy")
		}
		c.seeHeld("0 1", 3)
		c.beat(c.agents[0], c.id(0)+" unhealthy", other(0)+" unhealthy")
		c.see(other(0), calledIll)
	})
}

func TestBrake_HoldsEarlyWarnings(t *testing.T) {
	inCrowd(t, 4, func(c *crowd) {
		warn := func(millis uint32, agents ...int) {
			for _, i := range agents {
				said := claims(c.id(i) + " healthy")
				said[0].Warnings = wire.Warnings{CPUMillis: millis}
				_, err := c.ApplyHeartbeat(c.ctx(), c.agents[i], &wire.Heartbeat{Backends: said})
				c.must(err)
			}
		}
		share := func(i int) float64 { return c.View().Get(id(c.id(i))).Share }
		warn(10_000, 0, 1)
		c.pass(10 * time.Second)
		if share(0) > 0.2 || c.View().Get(id(c.id(0))).Held {
			t.Errorf("the share is %g", share(0))
		}
		warn(10_000, 2)
		for i := range 3 {
			if b := c.View().Get(id(c.id(i))); !b.Held || !b.MayServe || b.Reason != status.ReasonWarningHeld {
				t.Errorf("%+v", b)
			}
		}
		c.pass(10 * time.Second)
		c.pass(time.Second)
		if share(0) != 1 || share(2) != 1 {
			t.Errorf("the shares are %g and %g", share(0), share(2))
		}
		warn(10_000, 0, 1, 2)
		if _, err := c.ReleaseServiceHold(c.ctx(), "a.example"); err != nil {
			t.Error(err)
		}
		c.pass(10 * time.Second)
		if share(0) > 0.2 || share(2) > 0.2 || c.View().Get(id(c.id(2))).Held {
			t.Errorf("the shares are %g and %g", share(0), share(2))
		}
	})
}
