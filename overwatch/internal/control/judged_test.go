package control // inside: it shares created_test.go

import (
	"testing"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
)

// Names are judged by the last resort and the kind of answers that they have in force.
func TestJudged_HasWhatAnswersAName(t *testing.T) {
	kept, err := store.Open(t.TempDir(), store.Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	for lastHealthy, inherited := range map[bool]policy.OnAllDown{false: "", true: policy.LastHealthy} {
		file := fileWith("a.example", "b.example")
		file.DNS.ReturnLastHealthy = lastHealthy
		file.Domains[1].Answer, file.Domains[1].OnAllDown = config.AnswerCNAME, string(policy.All)
		got := stateOf(t, kept, file).Judged()
		if len(got) != 2 || got[0].OnAllDown != inherited || got[0].Names || got[1].OnAllDown != policy.All || !got[1].Names {
			t.Errorf("return_last_healthy %v: %+v", lastHealthy, got)
		}
	}
}
