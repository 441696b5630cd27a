package config

import "gslb.internal/shared/settings"

// DefaultDataDir is the default of data_dir, which holds the agent's identity.
const DefaultDataDir = "/var/lib/gslb"

// defaultMemoryThreshold is a percentage. The processor's default is in the tag of Resource, which
// both share.
const defaultMemoryThreshold = 90

// Default returns the configuration with every key at its default.
func Default() *Config {
	c := &Config{}
	settings.SetDefaults(c)
	c.Agent.Predictive.Memory.Threshold = defaultMemoryThreshold
	return c
}
