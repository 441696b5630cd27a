package config_test

import (
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings/settingstest"
)

// The reference table contains exactly the existing keys, with their types and defaults.
func TestReference_IsWhatTheProgramReads(t *testing.T) {
	settingstest.CheckReference(t, "../../../docs/configuration.md", config.Default())
}
