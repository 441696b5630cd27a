package keysync

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/state/config"
)

// Settings is what of the configuration matters here. They are not changed once given away.
type Settings struct {
	Peers        []string      // base URLs of the other nodes' API
	PollInterval time.Duration // between two rounds that went well
	Timeout      time.Duration // for one peer's answer
	Secrets      [][]byte      // the first proves this node; a peer may prove itself by any
	TLS          TLSFiles      // for peers over https
}

// SettingsOf takes them from a configuration.
func SettingsOf(c *config.Config) Settings {
	sync := &c.Overwatch.DNSSEC.KeySync
	s := Settings{Peers: sync.Peers, PollInterval: sync.PollInterval, Timeout: sync.Timeout, TLS: TLSFiles{CA: sync.CA, Certificate: sync.Certificate, Key: sync.Key}}
	if own := sync.Secret.Reveal(); own != "" {
		s.Secrets = [][]byte{derive([]byte(own), "configured")}
		return s
	}
	tokens := c.Overwatch.AgentTokens
	for _, key := range c.GossipKeys() {
		material := field(nil, key)
		for _, service := range slices.Sorted(maps.Keys(tokens)) {
			material = field(field(material, []byte(service)), []byte(tokens[service].Reveal()))
		}
		s.Secrets = append(s.Secrets, derive(material, "of the gossip key and all tokens"))
	}
	return s
}

// secretSize is that of the key that a secret is made into, in bytes.
const secretSize = 32

// derive makes a key of a secret (RFC 5869).
func derive(material []byte, kind string) []byte {
	key, err := hkdf.Key(sha256.New, material, []byte("gslb key sync v1"), kind, secretSize)
	if err != nil {
		panic(err) // the size is one that SHA-256 can give
	}
	return key
}

// field appends a value with its length in front, so that no two lists of fields are the same bytes.
func field(to, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(value))), value...)
}
