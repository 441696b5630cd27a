package keysync

import (
	"crypto/tls"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/overwatch/internal/state/config"
)

// Settings is the part of the configuration that Sync uses. It must not be changed afterwards.
type Settings struct {
	Peers        []string      // base URLs of the other nodes' API
	PollInterval time.Duration // between two rounds that went well
	Timeout      time.Duration // for one peer's answer
	Secret       Secret
	TLS          TLSFiles // for peers over https
	Roll         config.Rollover
	Algorithm    dnssec.Algorithm // of new keys
}

// SettingsOf returns the settings of a configuration.
func SettingsOf(c *config.Config) Settings {
	sync := &c.Overwatch.DNSSEC.KeySync
	return Settings{
		Peers: sync.Peers, PollInterval: sync.PollInterval, Timeout: sync.Timeout, Secret: SecretOf(c),
		TLS:  TLSFiles{CA: sync.CA, Certificate: sync.Certificate, Key: sync.Key},
		Roll: c.Overwatch.DNSSEC.Rollover, Algorithm: dnssec.Named(c.Overwatch.DNSSEC.Algorithm),
	}
}

// TLSFiles are the PEM files for peers over https. They are read for each round, so that changed files need no
// restart.
type TLSFiles struct {
	CA          string // authorities of the peers' certificates; "" for those that the machine trusts
	Certificate string // shown to a peer that wants one; "" for none
	Key         string // of Certificate; refused when group or others can read it
}

// Config returns the client side of TLS 1.2 or later. Its errors name the configuration key and the file.
func (f TLSFiles) Config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if f.CA != "" {
		if config.RootCAs, err = httpserve.LoadAuthorities(f.CA); err != nil {
			return nil, fmt.Errorf("overwatch.dnssec.key_sync.ca: %w", err)
		}
	}
	if f.Certificate != "" {
		pair, err := httpserve.LoadPair(f.Certificate, f.Key)
		if err != nil {
			return nil, fmt.Errorf("overwatch.dnssec.key_sync.certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
