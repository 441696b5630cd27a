package registry // inside: it uses the world of the package's tests

import (
	"strings"
	"testing"
)

// An agent and a declaration may write a region with other letter case. Backends and agents show the spelling of the
// region, even after a change of the spelling.
func TestRegionName_BackendsAndAgentsTakeTheSpellingOfTheRegion(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		name := "eu"
		w.stop()
		w.start(Options{Timing: validating, RegionName: func(text string) string {
			if strings.EqualFold(text, name) {
				return name
			}
			return text
		}})
		agent := w.authority.agent("one", "EU", "a.example")
		declared := static(a2)
		declared.Region = "Eu"
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{declared}))
		w.beat(agent, a1+" healthy")
		wantRegion := func(region string) {
			t.Helper()
			for _, b := range []string{a1, a2} {
				if got := w.View().Get(id(b)).Region; got != region {
					t.Errorf("backend %s is in region %q, want %q", b, got, region)
				}
			}
			if a, heard := w.View().Agent("one"); !heard || a.Region != region {
				t.Errorf("the agent is in region %q, want %q", a.Region, region)
			}
		}
		wantRegion("eu")
		name = "EU"
		w.must(w.ApplyPolicies(w.ctx()))
		w.beat(agent, a1+" healthy")
		wantRegion("EU")
	})
}
