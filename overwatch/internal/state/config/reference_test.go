package config // inside: it uses envPrefix

import (
	"testing"

	"gslb.internal/shared/settings/settingstest"
)

// The reference table has every key with its type and default, and nothing else.
func TestReference_IsWhatTheProgramReads(t *testing.T) {
	settingstest.CheckReference(t, "../../../docs/configuration.md", Default(), envPrefix)
}
