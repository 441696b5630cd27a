package control // inside: it uses longer

import (
	"testing"

	"gslb.internal/overwatch/internal/health/registry"
)

// During a change of declarations, the longer of each two times applies. If a shorter stale.threshold applied before
// the declarations, the last backend of an agent would leave the answers shortly before its replacement arrives.
func TestLonger_HasTheLongerOfEach(t *testing.T) {
	short := registry.Timing{StaleThreshold: 1, RemoveAfter: 2, ValidationInterval: 3}
	for name, long := range map[string]registry.Timing{
		"stale.threshold":    {StaleThreshold: 9, RemoveAfter: 2, ValidationInterval: 3},
		"stale.remove_after": {StaleThreshold: 1, RemoveAfter: 9, ValidationInterval: 3},
		"check_interval":     {StaleThreshold: 1, RemoveAfter: 2, ValidationInterval: 9},
	} {
		if longer(short, long) != long || longer(long, short) != long {
			t.Errorf("%s: %+v and %+v", name, longer(short, long), longer(long, short))
		}
	}
}
