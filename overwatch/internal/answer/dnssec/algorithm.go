package dnssec

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/miekg/dns"
)

// Algorithm is the number of a signing algorithm (RFC 8624).
type Algorithm uint8

// The supported algorithms.
const (
	ECDSAP256SHA256 = Algorithm(dns.ECDSAP256SHA256) // RFC 6605
	ED25519         = Algorithm(dns.ED25519)         // RFC 8080
)

// String returns the mnemonic of the algorithm.
func (a Algorithm) String() string { return dns.AlgorithmToString[uint8(a)] }

// ParseAlgorithm returns the algorithm with a mnemonic; 0 for an unsupported one.
func ParseAlgorithm(name string) Algorithm {
	for _, a := range []Algorithm{ECDSAP256SHA256, ED25519} {
		if a.String() == name {
			return a
		}
	}
	return 0
}

// validate returns an error for an unsupported algorithm.
func (a Algorithm) validate() error {
	if a != ECDSAP256SHA256 && a != ED25519 {
		return fmt.Errorf("has the algorithm %d; %d (%s) and %d (%s) can be used", uint8(a), uint8(ECDSAP256SHA256),
			ECDSAP256SHA256, uint8(ED25519), ED25519)
	}
	return nil
}

// secret is the private part of a key.
type secret interface {
	algorithm() Algorithm
	public() ([]byte, error)            // in the format of a DNSKEY record
	bytes() ([]byte, error)             // in the format of key files
	sign(signed []byte) ([]byte, error) // returns a signature in the format of an RRSIG record
}

// generate creates a secret.
func (a Algorithm) generate() (secret, error) {
	if a == ED25519 {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return edSecret(private), err
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return ecSecret{private}, err
}

// parse parses a secret in the format of key files. The error does not contain the secret.
func (a Algorithm) parse(b []byte) (secret, error) {
	if a == ED25519 {
		if len(b) != ed25519.SeedSize {
			return nil, errors.New("is not a private key of Ed25519")
		}
		return edSecret(ed25519.NewKeyFromSeed(b)), nil
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), b)
	if err != nil {
		return nil, errors.New("is not a private key of P-256")
	}
	return ecSecret{private}, nil
}

// padded returns a private key of a file with 32 octets. dnssec-keygen omits a leading zero octet, which one in 256
// keys of P-256 has.
func padded(scalar []byte) []byte {
	const size = 32
	if len(scalar) == 0 || len(scalar) >= size {
		return scalar
	}
	return append(make([]byte, size-len(scalar)), scalar...)
}

type ecSecret struct{ *ecdsa.PrivateKey }

func (s ecSecret) algorithm() Algorithm { return ECDSAP256SHA256 }

func (s ecSecret) public() ([]byte, error) {
	point, err := s.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	return point[1:], nil // x and y, without the prefix of an uncompressed point (RFC 6605 section 4)
}

func (s ecSecret) bytes() ([]byte, error) { return s.Bytes() }

func (s ecSecret) sign(signed []byte) ([]byte, error) {
	digest := sha256.Sum256(signed)
	der, err := s.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	return appendSignature(make([]byte, 0, signatureSize), der)
}

type edSecret ed25519.PrivateKey

func (s edSecret) algorithm() Algorithm { return ED25519 }

func (s edSecret) public() ([]byte, error) { return s[ed25519.SeedSize:], nil }

func (s edSecret) bytes() ([]byte, error) { return ed25519.PrivateKey(s).Seed(), nil }

func (s edSecret) sign(signed []byte) ([]byte, error) {
	return ed25519.Sign(ed25519.PrivateKey(s), signed), nil
}
