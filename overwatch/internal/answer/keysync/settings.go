package keysync

import (
	"time"

	"gslb.internal/overwatch/internal/state/config"
)

// Settings is the part of the configuration that Sync uses. It must not be changed afterwards.
type Settings struct {
	Peers        []string      // base URLs of the other nodes' API
	PollInterval time.Duration // between two rounds that went well
	Timeout      time.Duration // for one peer's answer
	Secret       Secret
	TLS          TLSFiles // for peers over https
}

// SettingsOf returns the settings of a configuration.
func SettingsOf(c *config.Config) Settings {
	sync := &c.Overwatch.DNSSEC.KeySync
	return Settings{
		Peers: sync.Peers, PollInterval: sync.PollInterval, Timeout: sync.Timeout, Secret: SecretOf(c),
		TLS: TLSFiles{CA: sync.CA, Certificate: sync.Certificate, Key: sync.Key},
	}
}
