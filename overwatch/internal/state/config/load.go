package config

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/settings"
)

// Check returns faults that only other packages can detect. File and Line are optional.
type Check func(*Config) settings.Problems

// Load loads a configuration with its included files. The error is of type settings.Problems and lists all faults,
// including the faults of checks, one per line.
func Load(path string, checks ...Check) (*Config, error) {
	c := Default()
	options := settings.Options{Mode: Mode, Validate: c.validator(c.readZoneFiles, checks)}
	if err := settings.Load(path, c, options); err != nil {
		return nil, err
	}
	c.setDisabledAside()
	return c, nil
}

// setDisabledAside moves the disabled domains from Domains to Disabled, because the node does not answer them.
func (c *Config) setDisabledAside() {
	isDisabled := func(d Domain) bool { return !d.Enabled }
	if !slices.ContainsFunc(c.Domains, isDisabled) {
		return
	}
	for _, d := range c.Domains {
		if !d.Enabled {
			c.disabled = append(c.disabled, d)
		}
	}
	c.Domains = slices.DeleteFunc(c.Domains, isDisabled)
	c.tuned = tunedDomains(nil, c.Domains) // the entries point into Domains
}

// CheckText returns the faults in the text of a configuration, or nil. The text must be complete: CheckText reads no
// files and no environment variables.
func CheckText(text string, checks ...Check) settings.Problems {
	_, err := LoadText(text, checks...)
	if problems, ok := errors.AsType[settings.Problems](err); ok || err == nil {
		return problems
	}
	return settings.Problems{{Message: err.Error()}}
}

// LoadText parses the text of a configuration, which must be complete as for CheckText. The error is of type
// settings.Problems.
func LoadText(text string, checks ...Check) (*Config, error) {
	c := Default()
	err := settings.LoadText(text, c, settings.Options{Mode: Mode, Validate: c.validator(c.refuseZoneFiles, checks)})
	if err == nil {
		c.setDisabledAside()
	}
	return c, err
}

// validator returns a function that completes c, including its zone files, and reports its faults.
func (c *Config) validator(zoneFiles func(*settings.Report), checks []Check) func(*settings.Report) {
	return func(report *settings.Report) {
		c.complete(report)
		c.validate(report)
		zoneFiles(report)
		for _, check := range checks {
			for _, p := range check(c) {
				report.Add(p.Key, p.Value, p.Message)
			}
		}
	}
}

// complete sets values that depend on the machine and on other keys.
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

// Tokens returns the tokens of each service: first the token of agent_tokens, then the previous tokens.
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

// GossipKeys returns the gossip keys: first the key for encryption, then the other accepted keys.
func (c *Config) GossipKeys() [][]byte {
	return settings.Keys(c.Overwatch.Gossip.EncryptionKey, c.Overwatch.Gossip.PreviousEncryptionKeys)
}

// Warn adds to Warnings.
func (c *Config) Warn(sentences ...string) { c.warnings = append(c.warnings, sentences...) }

// Warnings returns the warnings for the log at the start, one sentence each with its key.
func (c *Config) Warnings() []string { return c.warnings }

// DefaultRoutingAlgorithm is the algorithm of domains without routing_algorithm.
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

// UnmarshalText parses a zone that is only a name.
func (z *Zone) UnmarshalText(text []byte) error {
	z.Name = string(text)
	return nil
}

// maxCautions is the maximum number of warnings of a kind; a file may cause 100,000.
const maxCautions = 50

// cautions collects warnings of a kind: at most maxCautions, and the number of further warnings.
type cautions struct {
	list []string
	more int
}

func (c *cautions) warn(format string, args ...any) {
	if len(c.list) == maxCautions {
		c.more++
		return
	}
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

func (c *cautions) all() []string {
	if c.more > 0 {
		return append(c.list, fmt.Sprintf("and %d warnings more", c.more))
	}
	return c.list
}
