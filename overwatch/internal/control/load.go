package control

import (
	"net/netip"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// Load reads a configuration file and checks also what only the makers of DNS answers can know. What is wrong is of
// type settings.Problems.
func Load(path string) (*config.Config, error) { return config.Load(path, checkAnswers) }

// CheckText finds what is wrong with the text of a configuration, by itself: it includes nothing.
func CheckText(text string) settings.Problems { return config.CheckText(text, checkAnswers) }

func checkAnswers(c *config.Config) settings.Problems {
	problems, cautions := publish.Examine(DNSSettings(c, nil))
	c.Warn(cautions...)
	return append(problems, checkPlaces(c)...)
}

// DNSSettings returns what a configuration wants to be answered, but for where clients are. addresses are those at
// which the node answers DNS; nil is enough for checking.
func DNSSettings(cfg *config.Config, addresses []netip.Addr) publish.Settings {
	return publish.Settings{
		DNS: cfg.DNS, Domains: cfg.Domains, Regions: cfg.Regions, NodeID: cfg.Overwatch.Identity.NodeID,
		Addresses: addresses, Denial: cfg.Overwatch.DNSSEC.Denial,
	}
}
