package cli

import (
	"gslb.internal/gslbctl/internal/cmdline"
)

// oldNames maps old names of commands to current names. Old names are accepted until version 2.0; help, completion and
// manual pages omit them.
func oldNames() cmdline.OldNames {
	return cmdline.OldNames{
		"backends override":       "overrides",
		"backends override clear": "overrides clear",
		"backends override set":   "overrides set",
		"gossip config":           "config show gossip",
		"gossip generate-key":     "keygen gossip",
		"nodes deregister":        "agents remove",
		"nodes overwatch":         "nodes list",
		"nodes revoke":            "agents revoke",
		"servers drain":           "drain",
		"servers undrain":         "undrain",
		"watch":                   "top",
	}
}
