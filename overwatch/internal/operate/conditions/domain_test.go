package conditions_test

import (
	"testing"

	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// Conditions of a name depend on its fallback answer, which it may inherit, and on its kind of answers.
func TestDomainsOf_HasTheFallbackAnswerOfEachName(t *testing.T) {
	for lastHealthy, inherited := range map[bool]policy.OnAllDown{false: "", true: policy.LastHealthy} {
		c := &config.Config{Domains: []config.Domain{{Name: "a.example"},
			{Name: "b.example", Answer: config.AnswerCNAME, OnAllDown: string(policy.All)}}}
		c.DNS.ReturnLastHealthy = lastHealthy
		got := conditions.DomainsOf(c)
		if len(got) != 2 || got[0].OnAllDown != inherited || got[0].Names ||
			got[1].OnAllDown != policy.All || !got[1].Names {
			t.Errorf("return_last_healthy %v: %+v", lastHealthy, got)
		}
	}
}
