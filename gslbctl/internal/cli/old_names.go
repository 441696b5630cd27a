package cli

import (
	"gslb.internal/gslbctl/internal/cmdline"
)

// oldNames returns the old names of commands, each with the name that replaces it. Until version 2.0 an old name still
// runs; help, completion and the manual pages omit it.
func oldNames() cmdline.OldNames {
	return cmdline.OldNames{
		"backends override":       "overrides",
		"backends override clear": "overrides clear",
		"backends override set":   "overrides set",
		"gossip config":           "config show gossip",
		"gossip generate-key":     "keygen gossip",
		"nodes revoke":            "agents revoke",
		"servers drain":           "drain",
		"servers undrain":         "undrain",
	}
}
