package registry // inside: it shares world_test.go

import (
	"slices"
	"testing"
	"unique"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

var (
	uncheckedServes  = concluded(api.EffectiveHealthy, true, status.ReasonUnchecked)
	uncheckedClaimed = concluded(api.EffectiveHealthy, true, status.ReasonAgentUnchecked)
	uncheckedStale   = concluded(api.EffectiveStale, false, status.ReasonStaleUnchecked)
)

// off returns a static declaration with a disabled check.
func off(s string) Declaration {
	d, spec := static(s), tcp
	spec.Off = true
	d.Check = unique.Make(spec)
	return d
}

// The node does not check a server whose check is disabled. The server serves, and earlier results have no effect.
// After its check is enabled, it serves until a check fails, even after a restart.
func TestUnchecked_ServesUntilACheckFails(t *testing.T) {
	for _, restart := range []bool{false, true} {
		inWorld(t, validating, func(w *world) {
			w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
			w.verdict(b1, check.Failure)
			w.see(b1, concluded(api.EffectiveUnhealthy, false, status.ReasonFailing))
			w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{off(b1)}))
			w.see(b1, uncheckedServes)
			w.verdict(b1, check.Failure) // result of a check that began before
			w.see(b1, uncheckedServes)
			if b := w.View().Get(id(b1)); b.OwnCheck != (OwnCheck{}) || len(w.View().CheckTargets()) != 0 {
				t.Errorf("%+v, targets %v", b.OwnCheck, w.View().CheckTargets())
			}
			if restart {
				w.pass(DefaultRemoveAfter)
				w.restart(Options{Timing: validating})
			}
			w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(b1)}))
			w.see(b1, remembered)
			isB1 := func(target CheckTarget) bool { return target.ID == id(b1) && !target.WasUnhealthy }
			if targets := w.View().CheckTargets(); !slices.ContainsFunc(targets, isB1) {
				t.Errorf("targets %v", targets)
			}
			w.verdict(b1, check.Failure)
			w.see(b1, concluded(api.EffectiveUnhealthy, false, status.ReasonFailing))
		})
	}
}

// If the own check of a backend is disabled, a node uses only the reports of the agent.
func TestUnchecked_TheAgentDecidesAlone(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("one", "eu", id(b1).Service)
		d := off(b1)
		d.Agent = "one"
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{d}))
		w.beat(agent, b1+" healthy")
		w.see(b1, uncheckedClaimed)
		w.beat(agent, b1+" unhealthy")
		w.see(b1, concluded(api.EffectiveUnhealthy, false, status.ReasonAgentUnhealthy))
		w.beat(agent, b1+" healthy")
		w.pass(2 * DefaultStaleThreshold)
		w.see(b1, uncheckedStale)
	})
}
