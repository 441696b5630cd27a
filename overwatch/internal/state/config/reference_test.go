package config_test

import (
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings/settingstest"
)

// The reference table has every key with its type and default, and nothing else.
func TestReference_IsWhatTheProgramReads(t *testing.T) {
	settingstest.CheckReference(t, "../../../docs/configuration.md", config.Default())
}
