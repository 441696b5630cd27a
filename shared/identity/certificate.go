package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Properties of the certificates of gslb.
const (
	// Validity is the validity of a certificate, one year by the specification.
	Validity = 365 * 24 * time.Hour
	// backdate is the time by which a new certificate is backdated, to allow for small clock differences.
	backdate = time.Hour
	// maxValidity is the longest validity that ParseCertificate accepts: a year, leap day and backdating included.
	maxValidity = 366*24*time.Hour + 2*backdate
	// maxCertificate bounds the DER of a parsed certificate, in octets; a certificate of gslb has some 300.
	maxCertificate = 1024
	// MaxID bounds ids, in octets. It exceeds the limit of RFC 5280 for a common name (64), because a default id consists
	// of a region and a host name, and no certification authority sees it.
	MaxID = 128
)

// KeyID identifies a certificate: the SHA-256 of its DER.
type KeyID [sha256.Size]byte

// KeyIDOf returns the key id of a certificate.
func KeyIDOf(der []byte) KeyID { return sha256.Sum256(der) }

// Fingerprint returns the key id in the form of the API: "sha256:<hex>".
func (k KeyID) Fingerprint() string { return "sha256:" + hex.EncodeToString(k[:]) }

// Certificate is a well-formed, self-signed Ed25519 certificate. The caller checks its validity period and trust.
type Certificate struct {
	DER        []byte
	KeyID      KeyID
	CommonName string
	Serial     string // hexadecimal
	NotBefore  time.Time
	NotAfter   time.Time
	PublicKey  ed25519.PublicKey
}

// ErrCertificate is wrapped by every error of ParseCertificate.
var ErrCertificate = errors.New("unacceptable certificate")

// ParseCertificate validates a received certificate: size, DER without trailing data, Ed25519, signed by its own key, a
// common name that ValidateID accepts, and a validity of at most a year. It copies der.
func ParseCertificate(der []byte) (*Certificate, error) {
	x, c, err := parseCertificate(der)
	if err != nil {
		return nil, err
	}
	if !ed25519.Verify(c.PublicKey, x.RawTBSCertificate, x.Signature) {
		return nil, fmt.Errorf("%w: not signed by its own key", ErrCertificate)
	}
	return c, nil
}

// ReadCertificate is ParseCertificate for a previously accepted certificate from storage that only this program writes.
// It skips the signature check, which takes nine tenths of the time.
func ReadCertificate(der []byte) (*Certificate, error) {
	_, c, err := parseCertificate(der)
	return c, err
}

func parseCertificate(der []byte) (*x509.Certificate, *Certificate, error) {
	if len(der) > maxCertificate {
		return nil, nil, fmt.Errorf("%w: %d octets, at most %d", ErrCertificate, len(der), maxCertificate)
	}
	x, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	pub, ok := x.PublicKey.(ed25519.PublicKey)
	if !ok || x.SignatureAlgorithm != x509.PureEd25519 {
		return nil, nil, fmt.Errorf("%w: key is %s, must be Ed25519", ErrCertificate, x.PublicKeyAlgorithm)
	}
	if err := ValidateID(x.Subject.CommonName); err != nil {
		return nil, nil, fmt.Errorf("%w: common name: %w", ErrCertificate, err)
	}
	if d := x.NotAfter.Sub(x.NotBefore); d <= 0 || d > maxValidity {
		return nil, nil, fmt.Errorf("%w: validity of %s, must be at most a year", ErrCertificate, d)
	}
	return x, &Certificate{
		DER: x.Raw, KeyID: KeyIDOf(x.Raw), CommonName: x.Subject.CommonName, Serial: x.SerialNumber.Text(16),
		NotBefore: x.NotBefore, NotAfter: x.NotAfter, PublicKey: pub,
	}, nil
}

// ValidateID validates an agent or node id: up to MaxID letters, digits, '.', '_' and '-', beginning with a letter or
// digit. Ids are part of certificates, URL paths, host:port/name lists and log lines. "expiring" is invalid, because
// the API has a path of this name next to the paths of agent ids.
func ValidateID(id string) error {
	if id == "" || len(id) > MaxID {
		return fmt.Errorf("id of %d octets: 1 to %d are allowed", len(id), MaxID)
	}
	if id == "expiring" {
		return errors.New(`id "expiring" is a word of the API: choose another`)
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return fmt.Errorf("id %q: allowed are letters, digits, and behind the first of them '.', '_' and '-'", id)
		}
	}
	return nil
}

// IssuedAt returns the creation time of the certificate: the validity of a certificate of this package begins backdate
// earlier.
func (c *Certificate) IssuedAt() time.Time {
	if c.NotAfter.Sub(c.NotBefore) == Validity {
		return c.NotBefore.Add(backdate)
	}
	return c.NotBefore
}

// newCertificate creates a key and its certificate. The certificate is valid for a year, which begins backdate before
// now.
func newCertificate(commonName string, now time.Time) (der []byte, key ed25519.PrivateKey, err error) {
	if err := ValidateID(commonName); err != nil {
		return nil, nil, err
	}
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("generating a key: %w", err)
	}
	var serial [16]byte
	rand.Read(serial[:])
	serial[0] = serial[0]&0x7f | 0x40 // positive and of fixed length: RFC 5280, section 4.1.2.2
	begin := now.UTC().Truncate(time.Second).Add(-backdate)
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial[:]),
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    begin,
		NotAfter:     begin.Add(Validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	der, err = x509.CreateCertificate(rand.Reader, template, template, pub, key)
	if err != nil {
		return nil, nil, fmt.Errorf("making a certificate for %s: %w", commonName, err)
	}
	return der, key, nil
}
