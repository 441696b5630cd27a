package config

import (
	"cmp"

	"gslb.internal/shared/settings"
)

// Load loads a configuration file and its included files. The error is of type settings.Problems and lists all
// problems, one per line.
func Load(path string) (*Config, error) {
	c := Default()
	err := settings.Load(path, c, settings.Options{
		Mode: Mode,
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

// complete sets keys with defaults that depend on other keys.
func (c *Config) complete(report *settings.Report) {
	if inner := c.Agent.DataDir; inner != "" {
		if report.IsSet("data_dir") && inner != c.DataDir {
			report.Addf("agent.data_dir", inner, "data_dir is %q: remove one of the two", c.DataDir)
		}
		c.DataDir = inner
	}
}

// Tokens returns the token of every service with a backend, or with a possible backend of agent.backends_from: the
// services of the entries and of service_tokens.
func (c *Config) Tokens() map[string]string {
	tokens := map[string]string{}
	for i := range c.Agent.Backends {
		service := c.Agent.Backends[i].Service
		tokens[service] = c.Agent.Identity.token(service).Reveal()
	}
	for _, from := range c.Agent.BackendsFrom {
		for service, token := range c.Agent.Identity.ServiceTokens {
			tokens[service] = token.Reveal()
		}
		if from.Service != "" {
			tokens[from.Service] = c.Agent.Identity.token(from.Service).Reveal()
		}
	}
	return tokens
}

// token returns the token of a service: the token in service_tokens, otherwise service_token.
func (i *Identity) token(service string) settings.Secret {
	return cmp.Or(i.ServiceTokens[service], i.ServiceToken)
}

// GossipKeys returns the gossip keys: first the key for encryption, then the keys for decryption only.
func (c *Config) GossipKeys() [][]byte {
	return settings.Keys(c.Agent.Gossip.EncryptionKey, c.Agent.Gossip.PreviousEncryptionKeys)
}

// Warnings returns warnings about valid but risky settings, one sentence each with its key, for the log at the start.
func (c *Config) Warnings() []string { return c.warnings }

// DefaultDataDir is the default of data_dir, which holds the agent's identity.
const DefaultDataDir = "/var/lib/gslb"

// Default returns the configuration with every key at its default.
func Default() *Config {
	c := &Config{}
	settings.SetDefaults(c)
	return c
}
