package config

import (
	"errors"
	"fmt"
	"os"

	"gslb.internal/shared/settings"
)

// envPrefix begins the environment variables that secrets may come from.
const envPrefix = "GSLB"

// Check finds what is wrong with a configuration beyond what this package can know. Its problems need no File and Line.
type Check func(*Config) settings.Problems

// Load reads a configuration and what it includes. The error is of type settings.Problems and has everything that is
// wrong, in the files and by the checks, one line each.
func Load(path string, checks ...Check) (*Config, error) {
	c := Default()
	options := settings.Options{Mode: Mode, EnvPrefix: envPrefix, Validate: c.validator(checks)}
	if err := settings.Load(path, c, options); err != nil {
		return nil, err
	}
	return c, nil
}

// CheckText finds what is wrong with the text of a configuration that must be complete in itself: no file is read, and
// nothing is taken from the environment. nil: nothing is wrong.
func CheckText(text string, checks ...Check) settings.Problems {
	c := Default()
	err := settings.LoadText(text, c, settings.Options{Mode: Mode, Validate: c.validator(checks)})
	if problems, ok := errors.AsType[settings.Problems](err); ok || err == nil {
		return problems
	}
	return settings.Problems{{Message: err.Error()}}
}

// validator completes c and notes what is wrong with it.
func (c *Config) validator(checks []Check) func(*settings.Report) {
	return func(report *settings.Report) {
		c.complete(report)
		c.validate(report)
		for _, check := range checks {
			for _, p := range check(c) {
				report.Add(p.Key, p.Value, p.Message)
			}
		}
	}
}

// complete fills in what follows from the machine and from other keys.
func (c *Config) complete(report *settings.Report) {
	if inner := c.Overwatch.DataDir; inner != "" {
		if report.IsSet("data_dir") && inner != c.DataDir {
			report.Addf("overwatch.data_dir", inner, "data_dir says %q: keep one of the two", c.DataDir)
		}
		c.DataDir = inner
	}
	if c.Overwatch.Identity.NodeID == "" {
		host, err := os.Hostname()
		if err != nil {
			report.Add("overwatch.identity.node_id", "", fmt.Sprintf("is missing, and this machine does not tell its name "+
				"(%v): give one", err))
		}
		c.Overwatch.Identity.NodeID = host
	}
}

// Tokens returns the tokens that prove a service, by service: first the one of agent_tokens, then those before it.
func (c *Config) Tokens() map[string][]string {
	tokens := make(map[string][]string, len(c.Overwatch.AgentTokens))
	for service, token := range c.Overwatch.AgentTokens {
		tokens[service] = []string{token.Reveal()}
		for _, before := range c.Overwatch.PreviousAgentTokens[service] {
			tokens[service] = append(tokens[service], before.Reveal())
		}
	}
	return tokens
}

// GossipKeys returns the keys of gossip: first the one to encrypt with, then those that are still understood.
func (c *Config) GossipKeys() [][]byte {
	keys := make([][]byte, 0, 1+len(c.Overwatch.Gossip.PreviousEncryptionKeys))
	for _, text := range append([]settings.Secret{c.Overwatch.Gossip.EncryptionKey},
		c.Overwatch.Gossip.PreviousEncryptionKeys...) {
		key, _ := settings.ParseKey(text) // validated by Load
		keys = append(keys, key)
	}
	return keys
}

// Warn adds to Warnings.
func (c *Config) Warn(sentences ...string) { c.warnings = append(c.warnings, sentences...) }

// Warnings returns what works but deserves a word, one sentence each with its key, for the log at start.
func (c *Config) Warnings() []string { return c.warnings }
