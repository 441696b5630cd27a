package keysync

import (
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/state/config"
)

// Settings is the part of the configuration that Sync uses. It is immutable.
type Settings struct {
	Peers        []string      // base URLs of the other nodes' API
	PollInterval time.Duration // time between two rounds without failures
	Timeout      time.Duration // timeout of the request to one peer
	Secret       Secret
	TLS          peerauth.TLSFiles // for peers with an https URL
	Roll         config.Rollover
	Algorithm    dnssec.Algorithm // of new keys
}

// SettingsOf returns the settings of a configuration.
func SettingsOf(c *config.Config) Settings {
	sync := &c.Overwatch.DNSSEC.KeySync
	return Settings{
		Peers: sync.Peers, PollInterval: sync.PollInterval, Timeout: sync.Timeout, Secret: SecretOf(c),
		TLS: peerauth.TLSFilesOf(c), Roll: c.Overwatch.DNSSEC.Rollover,
		Algorithm: dnssec.ParseAlgorithm(c.Overwatch.DNSSEC.Algorithm),
	}
}
