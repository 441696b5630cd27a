package config

import (
	"sync"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/settings"
)

// DefaultRoutingAlgorithm is the policy of domains without routing_algorithm.
const DefaultRoutingAlgorithm = string(policy.DefaultAlgorithm)

// Kinds of authenticated denial of existence.
const (
	DenialNSEC  = "nsec"
	DenialNSEC3 = "nsec3"
)

// Default returns the configuration of an empty file.
func Default() *Config {
	c := &Config{}
	settings.SetDefaults(c)
	return c
}

// defaultDomain returns a domain with nothing but defaults.
var defaultDomain = sync.OnceValue(func() (d Domain) {
	settings.SetDefaults(&d)
	return d
})

// SetDefaults resets a domain to the defaults.
func (d *Domain) SetDefaults() { *d = defaultDomain() }

// UnmarshalText reads a zone that is given by its name alone.
func (z *Zone) UnmarshalText(text []byte) error {
	z.Name = string(text)
	return nil
}
