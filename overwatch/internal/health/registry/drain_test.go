package registry // inside: it shares world_test.go

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

func (w *world) share(s string, want float64, serve bool) {
	w.t.Helper()
	b := w.View().Get(id(s))
	if math.Abs(b.Share-want) > 1e-9 || b.MayServe != serve {
		w.t.Errorf("share is %v and may serve %v; want %v, %v", b.Share, b.MayServe, want, serve)
	}
}

// asked compares the backends that drain at the request of their agents.
func (w *world) asked(want ...string) {
	w.t.Helper()
	var got []string
	for b := range w.View().AgentDrains() {
		got = append(got, b.ID.String())
	}
	var ids []string
	for _, s := range want {
		ids = append(ids, id(s).String())
	}
	if !slices.Equal(got, ids) {
		w.t.Errorf("%v are asked to drain, want %v", got, ids)
	}
}

func TestDrain_LowersTheShareLinearlyThenStopsServing(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		before := w.changed.count()
		ends, err := w.SetDrain(w.ctx(), id(a1), 100*time.Second)
		w.must(err)
		if b := w.View().Get(id(a1)); !b.Draining || !b.DrainEndsAt.Equal(ends) ||
			!ends.Equal(time.Now().Add(100*time.Second)) {
			t.Errorf("draining %v until %v", b.Draining, b.DrainEndsAt)
		}
		w.share(a1, 1, true)
		w.pass(25 * time.Second)
		w.share(a1, 0.75, true)
		w.pass(50 * time.Second)
		w.share(a1, 0.25, true)
		w.pass(24 * time.Second)
		w.share(a1, 0.05, true)
		w.pass(time.Second)
		w.share(a1, 0, false)
		w.see(a1, concluded(api.EffectiveHealthy, false, status.ReasonDrained))
		w.pass(time.Hour)
		if n := w.changed.count() - before; n != status.DrainSteps+1 {
			t.Errorf("%d publications, want %d", n, status.DrainSteps+1)
		}
		w.must(w.ClearDrain(w.ctx(), id(a1)))
		w.share(a1, 1, true)
		if w.View().Get(id(a1)).Draining {
			t.Error("still draining")
		}
	})
}

// A second drain of a drained or draining backend does not increase its traffic.
func TestDrain_AnotherOneGoesOnWhereTheFirstHasLedTo(t *testing.T) {
	const short, long = 10 * time.Second, 100 * time.Second
	type ordered struct {
		to      float64
		over    time.Duration
		expires time.Duration // 0: never
	}
	for name, tc := range map[string]struct {
		first, second ordered
		between       time.Duration
		share         float64 // right after the second
		left          time.Duration
		ends          float64 // share after the second
	}{
		"repeated when it is over": {
			first: ordered{over: long}, second: ordered{over: long}, between: time.Hour,
		},
		"repeated on the way": {
			first: ordered{over: long}, second: ordered{over: 40 * time.Second}, between: 25 * time.Second,
			share: 0.75, left: 30 * time.Second,
		},
		"a quarter, then nothing": {
			first: ordered{to: 0.25, over: short, expires: time.Hour}, second: ordered{over: long, expires: 2 * time.Hour},
			between: time.Minute, share: 0.25, left: 25 * time.Second,
		},
		"nothing, then a quarter": {
			first: ordered{over: short, expires: time.Hour}, second: ordered{to: 0.25, over: long}, between: time.Minute,
			share: 0.25, ends: 0.25,
		},
		"the first has expired": {
			first: ordered{over: short, expires: time.Minute}, second: ordered{over: long}, between: time.Minute,
			share: 1, left: long,
		},
		"between two steps, no step back": {
			first: ordered{to: 0.5, over: long}, second: ordered{to: 0.2, over: long, expires: time.Hour},
			between: 27 * time.Second, share: 0.84, left: 80 * time.Second, ends: 0.2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, notValidating, func(w *world) {
				w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
				set := func(o ordered) {
					order := AdminState{Kind: api.OrderDrain, Service: "a.example", Address: addr("10.0.0.1"), Port: 80, Share: o.to,
						Duration: o.over, CreatedAt: time.Now()}
					if o.expires > 0 {
						order.ExpiresAt = time.Now().Add(o.expires)
					}
					w.must(w.SetAdminState(w.ctx(), order))
				}
				set(tc.first)
				w.pass(tc.between)
				set(tc.second)
				w.share(a1, tc.share, tc.share > 0)
				if left := time.Until(w.View().Get(id(a1)).DrainEndsAt); max(left, 0) != tc.left {
					t.Errorf("it is over in %s, want %s", left, tc.left)
				}
				w.pass(tc.left)
				w.share(a1, tc.ends, tc.ends > 0)
			})
		})
	}
}

func TestDrain_ShortOneIsBoundedInPublications(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		before := w.changed.count()
		_, err := w.SetDrain(w.ctx(), id(a1), 200*time.Millisecond)
		w.must(err)
		w.pass(time.Second)
		w.share(a1, 0, false)
		if n := w.changed.count() - before; n > 4 {
			t.Errorf("%d publications in 200 ms", n)
		}
	})
}

func TestDrain_ByTheAgentTakesTheServicesTime(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy", a2+" healthy")
		w.asked()
		w.beat(agent, a1+" draining", a2+" healthy")
		w.asked(a1)
		w.share(a1, 1, true)
		w.beatFor(DefaultDrainTime/2, agent, a1+" draining")
		w.share(a1, 0.5, true)
		w.beatFor(DefaultDrainTime/2, agent, a1+" draining")
		w.share(a1, 0, false)
		w.beat(agent, a1+" healthy")
		w.asked()
		w.share(a1, 1, true)
	})
}

func TestDrain_TheOneThatIsFurtherCounts(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" draining")
		_, err := w.SetDrain(w.ctx(), id(a1), time.Minute)
		w.must(err)
		w.beatFor(15*time.Second, agent, a1+" draining")
		w.share(a1, 0.5, true)
		if left := time.Until(w.View().Get(id(a1)).DrainEndsAt); left != DefaultDrainTime-15*time.Second {
			t.Errorf("it is drained in %s, want what is left of the shorter drain", left)
		}
		w.beat(agent, a1+" healthy")
		w.share(a1, 0.75, true)
		if left := time.Until(w.View().Get(id(a1)).DrainEndsAt); left != 45*time.Second {
			t.Errorf("it is drained in %s, want what is left of the one that stays", left)
		}
	})
}

func TestDrain_OfNothingCannotBeCleared(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		if err := w.ClearDrain(w.ctx(), id(a1)); !errors.Is(err, ErrNoAdminState) {
			t.Errorf("ClearDrain: %v", err)
		}
		if _, err := w.SetDrain(w.ctx(), id(a1), 25*time.Hour); err == nil {
			t.Errorf("a drain of 25 hours: %v", err)
		}
	})
}

func TestDrain_UnhealthyKeepsItsOwnReason(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" unhealthy")
		_, err := w.SetDrain(w.ctx(), id(a1), time.Second)
		w.must(err)
		w.pass(2 * time.Second)
		w.see(a1, agentUnhealthy)
	})
}
