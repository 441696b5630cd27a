package registry // inside: it shares world_test.go

import (
	"errors"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

var (
	forcedUp   = concluded(api.EffectiveHealthy, true, status.ReasonOverrideHealthy)
	forcedDown = concluded(api.EffectiveUnhealthy, false, status.ReasonOverrideUnhealthy)
)

func down(service, address string, port uint16) AdminState {
	return AdminState{Kind: api.OrderOverride, Service: service, Address: addr(address), Port: port, Reason: "test",
		CreatedAt: time.Now()}
}

func TestOverride_OfAnAddressMeansEveryPort(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		const other = "a.example:10.0.0.1:81"
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1), static(other), static(a2)}))
		w.must(w.SetAdminState(w.ctx(), down("A.Example.", "::ffff:10.0.0.1", 0)))
		w.see(a1, forcedDown)
		w.see(other, forcedDown)
		w.see(a2, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
		up := down("a.example", "10.0.0.1", 81)
		up.Healthy = true
		w.must(w.SetAdminState(w.ctx(), up))
		w.see(a1, forcedDown)
		w.see(other, forcedUp) // the override of the port has precedence
		if got := w.View().AdminStates(); len(got) != 2 || got[0].Port != 0 || got[1].Port != 81 {
			t.Errorf("overrides are %+v", got)
		}
		if o := w.View().Get(id(other)).Override; o == nil || !o.Healthy || o.Reason != "test" {
			t.Errorf("the record does not show its override: %+v", o)
		}
		w.must(w.ClearAdminState(w.ctx(), api.OrderOverride, "a.example", addr("10.0.0.1"), 81))
		w.see(other, forcedDown)
		w.must(w.ClearAdminState(w.ctx(), api.OrderOverride, "a.example", addr("10.0.0.1"), 0))
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
		if got := w.View().AdminStates(); len(got) != 0 {
			t.Errorf("overrides are %+v", got)
		}
	})
}

func TestOverride_OfHealthyDoesNotEndADrainAndSaysSo(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		up := down("a.example", "10.0.0.1", 80)
		up.Healthy = true
		w.must(w.SetAdminState(w.ctx(), up))
		if _, err := w.SetDrain(w.ctx(), id(a1), time.Second); err != nil {
			t.Fatal(err)
		}
		w.see(a1, forcedUp)
		w.pass(2 * time.Second)
		w.see(a1, concluded(api.EffectiveHealthy, false, status.ReasonDrainedAnyway))
		w.must(w.ClearAdminState(w.ctx(), api.OrderOverride, "a.example", addr("10.0.0.1"), 80))
		w.see(a1, concluded(api.EffectiveHealthy, false, status.ReasonDrained))
		w.must(w.SetAdminState(w.ctx(), up))
		w.must(w.ClearDrain(w.ctx(), id(a1)))
		w.see(a1, forcedUp)
	})
}

func TestOverride_BeatsEverythingAndLeavesNoTrace(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.verdict(a1, check.Success)
		w.must(w.SetAdminState(w.ctx(), down("a.example", "10.0.0.1", 80)))
		w.see(a1, forcedDown)
		w.verdict(a1, check.Success)
		w.see(a1, forcedDown)
		w.pass(5 * time.Minute) // the result of the own check expires
		w.must(w.ClearAdminState(w.ctx(), api.OrderOverride, "a.example", addr("10.0.0.1"), 80))
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonRemembered))
	})
}

func TestOverride_Expires(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		o := down("a.example", "10.0.0.1", 80)
		o.ExpiresAt = time.Now().Add(30 * time.Minute)
		w.must(w.SetAdminState(w.ctx(), o))
		w.pass(30*time.Minute - time.Millisecond)
		w.see(a1, forcedDown)
		w.pass(time.Second)
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
		if e := w.ended(); len(e) != 1 || e[0].Address != o.Address || !e[0].ExpiresAt.Equal(o.ExpiresAt) {
			t.Errorf("told of what has expired: %+v", e)
		}
		w.must(w.SetAdminState(w.ctx(), o)) // as from a node with a clock that is behind
		w.see(a1, concluded(api.EffectiveHealthy, true, status.ReasonUnwatched))
		if e := w.ended(); len(e) != 2 {
			t.Errorf("told of an override that had expired: %+v", e)
		}
	})
}

func TestOverride_ReplacedOneDoesNotExpireForTheNew(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		o := down("a.example", "10.0.0.1", 80)
		o.ExpiresAt = time.Now().Add(time.Minute)
		w.must(w.SetAdminState(w.ctx(), o))
		o.ExpiresAt = time.Time{}
		w.must(w.SetAdminState(w.ctx(), o))
		w.pass(time.Hour)
		w.see(a1, forcedDown)
		if e := w.ended(); len(e) != 0 {
			t.Errorf("told of what was replaced: %+v", e)
		}
	})
}

func TestOverride_OfNothingCannotBeCleared(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		if err := w.ClearAdminState(w.ctx(), api.OrderOverride, "a.example", addr("10.0.0.1"), 80); !errors.Is(err,
			ErrNoAdminState) {
			t.Errorf("nothing to clear: %v", err)
		}
	})
}

func TestOverride_WaitsForABackendThatComesBack(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.must(w.SetAdminState(w.ctx(), down("a.example", "10.0.0.1", 80)))
		w.must(w.ApplyGoodbye(w.ctx(), agent))
		w.seeNone(a1)
		w.beat(agent, a1+" healthy")
		w.see(a1, forcedDown)
	})
}
