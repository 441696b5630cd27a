package config

import (
	"slices"

	"gslb.internal/shared/settings"
)

// CheckSettings returns the faults in the settings of DNS, gossip, checks and log of a configuration that changed after
// Load. It does not change the configuration.
func (c *Config) CheckSettings() settings.Problems {
	own := *c
	own.DNS.Zones = slices.Clone(c.DNS.Zones) // validation converts their names to canonical form
	return settings.Inspect(func(report *settings.Report) {
		v := &validator{Report: report, config: &own}
		v.CheckBounds(&own)
		v.node()
		v.gossip()
		v.timing()
		v.dns()
	})
}
