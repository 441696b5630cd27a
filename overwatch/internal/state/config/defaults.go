package config

import (
	"sync"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/settings"
)

// DefaultRoutingAlgorithm is how a domain's backends are chosen unless its keys say otherwise.
const DefaultRoutingAlgorithm = string(policy.DefaultAlgorithm)

// Kinds of authenticated denial of existence.
const (
	DenialNSEC  = "nsec"
	DenialNSEC3 = "nsec3"
)

// Default returns the configuration of a file that says nothing.
func Default() *Config {
	c := &Config{}
	settings.SetDefaults(c)
	return c
}

// defaultDomain is a domain whose keys say nothing.
var defaultDomain = sync.OnceValue(func() (d Domain) {
	settings.SetDefaults(&d)
	return d
})

// SetDefaults makes a domain one whose keys say nothing.
func (d *Domain) SetDefaults() { *d = defaultDomain() }

// UnmarshalText reads a zone that is given by its name alone.
func (z *Zone) UnmarshalText(text []byte) error {
	z.Name = string(text)
	return nil
}
