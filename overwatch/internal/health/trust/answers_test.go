package trust // inside: it uses maxNotices

import (
	"fmt"
	"testing"
	"time"

	"gslb.internal/shared/wire"
)

// After refusals of many agents, the first refusal of another agent is still logged, unless very many occur at the same
// time.
func TestFirst_IsTrueOfOneMoreThanAreRemembered(t *testing.T) {
	a := newAnswers()
	refused := func(i int, at time.Duration) bool {
		return a.first(fmt.Sprint("agent-", i), wire.CodeExpired, true, at)
	}
	for i := range maxNotices {
		if !refused(i, 0) {
			t.Fatalf("agent %d was refused for the first time", i)
		}
	}
	lines := 0
	for i := range maxNotices {
		if refused(maxNotices+i, 0) {
			lines++
		}
	}
	if lines == 0 || lines > maxNotices/10 || len(a.noticed) > maxNotices {
		t.Errorf("%d lines of %d more agents, %d are remembered", lines, maxNotices, len(a.noticed))
	}
	if last := 3 * maxNotices; !refused(last, time.Hour) || refused(last, time.Hour) {
		t.Error("an agent that is refused later is not worth one line")
	}
}
