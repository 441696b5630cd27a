package config

import (
	"cmp"

	"gslb.internal/shared/settings"
)

// envPrefix begins the environment variables that secrets may come from.
const envPrefix = "GSLB"

// Load reads a configuration and what it includes. The error is of type settings.Problems and has everything that is
// wrong, one line each.
func Load(path string) (*Config, error) {
	c := Default()
	err := settings.Load(path, c, settings.Options{
		Mode: Mode, EnvPrefix: envPrefix,
		Validate: func(report *settings.Report) {
			c.complete(report)
			c.validate(report)
		},
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// complete fills in what follows from other keys.
func (c *Config) complete(report *settings.Report) {
	if inner := c.Agent.DataDir; inner != "" {
		if report.IsSet("data_dir") && inner != c.DataDir {
			report.Addf("agent.data_dir", inner, "data_dir says %q: keep one of the two", c.DataDir)
		}
		c.DataDir = inner
	}
}

// Tokens returns the token of every service that the backends have.
func (c *Config) Tokens() map[string]string {
	tokens := map[string]string{}
	for i := range c.Agent.Backends {
		service := c.Agent.Backends[i].Service
		tokens[service] = c.Agent.Identity.token(service).Reveal()
	}
	return tokens
}

// token returns the token for a service: its own, or the one for all.
func (i *Identity) token(service string) settings.Secret {
	return cmp.Or(i.ServiceTokens[service], i.ServiceToken)
}

// GossipKeys returns the keys of gossip: first the one to encrypt with, then those that are still understood.
func (c *Config) GossipKeys() [][]byte {
	keys := make([][]byte, 0, 1+len(c.Agent.Gossip.PreviousEncryptionKeys))
	for _, text := range append([]settings.Secret{c.Agent.Gossip.EncryptionKey}, c.Agent.Gossip.PreviousEncryptionKeys...) {
		key, _ := settings.ParseKey(text) // validated by Load
		keys = append(keys, key)
	}
	return keys
}

// Warnings returns what works but deserves a word, one sentence each with its key, for the log at start.
func (c *Config) Warnings() []string { return c.warnings }
