package peerauth

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"

	"gslb.internal/overwatch/internal/state/config"
)

// SecretFor returns the secret of a configuration for a purpose. It is derived from key_sync.secret. It returns nil if
// key_sync.secret is not set.
func SecretFor(c *config.Config, purpose string) []byte {
	own := c.Overwatch.DNSSEC.KeySync.Secret.Reveal()
	if own == "" {
		return nil
	}
	return DeriveSecret([]byte(own), "for "+purpose)
}

// secretSize is the size of a derived secret, in bytes.
const secretSize = 32

// DeriveSecret derives a secret of 32 bytes from key material (HKDF, RFC 5869). Secrets with different info are
// independent.
func DeriveSecret(material []byte, info string) []byte {
	secret, err := hkdf.Key(sha256.New, material, []byte("gslb key sync v1"), info, secretSize)
	if err != nil {
		panic(err) // HKDF with SHA-256 supports secrets of 32 bytes
	}
	return secret
}

// AppendField appends the length of a value and the value. Different lists of values have different encodings.
func AppendField(to, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(value))), value...)
}
