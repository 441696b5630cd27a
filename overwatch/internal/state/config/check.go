package config

import (
	"slices"

	"gslb.internal/shared/settings"
)

// CheckSettings returns the faults in the settings of DNS, gossip, checks and the log, for a configuration that was
// changed after Load. It changes nothing.
func (c *Config) CheckSettings() settings.Problems {
	own := *c
	own.DNS.Zones = slices.Clone(c.DNS.Zones) // their names are brought into canonical form
	return settings.Inspect(func(report *settings.Report) {
		v := &validator{Report: report, config: &own}
		v.CheckBounds(&own)
		v.node()
		v.gossip()
		v.timing()
		v.dns()
	})
}
