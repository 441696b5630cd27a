package config

import "gslb.internal/shared/settings"

// DefaultDataDir is where an agent keeps its identity unless the key data_dir says otherwise.
const DefaultDataDir = "/var/lib/gslb"

// defaultMemoryThreshold is in percent. The processor's is in the tag of Resource, which the two share.
const defaultMemoryThreshold = 90

// Default returns the configuration of a file that says nothing.
func Default() *Config {
	c := &Config{}
	settings.SetDefaults(c)
	c.Agent.Predictive.Memory.Threshold = defaultMemoryThreshold
	return c
}
