package identity

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Identity is a certificate and its private key.
type Identity struct {
	*Certificate
	key ed25519.PrivateKey
}

// LoadOrCreate returns the identity in two PEM files. If both are missing, it creates them and their directory (0700).
// It completes a creation that stopped between the two files.
//
// commonName is for a new identity only. An existing identity retains its name, because the default id contains the
// host name, which may change. A caller with a configured id compares it with CommonName.
//
// LoadOrCreate returns an error that names the file and the remedy if one of the two files is missing, a file is
// damaged, the key belongs to another certificate, or other users can read the key. It never replaces an identity,
// because overwatch nodes that have pinned it would reject the new identity. It returns an expired certificate like any
// other.
func LoadOrCreate(certPath, keyPath, commonName string, now time.Time) (id *Identity, created bool, err error) {
	certThere, err := exists(certPath)
	if err != nil {
		return nil, false, err
	}
	keyThere, err := exists(keyPath)
	if err != nil {
		return nil, false, err
	}
	switch {
	case certThere && keyThere:
		id, err = Load(certPath, keyPath)
		return id, false, err
	case certThere:
		return nil, false, halfThere(keyPath, certPath)
	case keyThere:
		err = complete(certPath, keyPath)
	default:
		err = create(certPath, keyPath, commonName, now)
	}
	if err != nil {
		return nil, false, err
	}
	id, err = Load(certPath, keyPath) // read the files, as the next start does
	return id, true, err
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// remedy is the end of each error message about identity files.
const remedy = "restore it from a backup; or, to start with a new identity, delete both files, and the pin of the " +
	"old one on every overwatch node"

func halfThere(missing, present string) error {
	return fmt.Errorf("%s is missing although %s exists: %s", missing, present, remedy)
}

// waiting is the suffix of a certificate file until its key exists:
//
//	certificate.new    key    certificate    the next start
//	-                  -      -              creates all
//	written            -      -              creates all, in its place
//	written            yes    -              renames it, if the key is its own
//	-                  yes    yes            loads both
const waiting = ".new"

func create(certPath, keyPath, commonName string, now time.Time) error {
	der, key, err := newCertificate(commonName, now)
	if err != nil {
		return err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding the key of %s: %w", commonName, err)
	}
	for _, path := range []string{keyPath, certPath} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("creating the directory of %s: %w; create it or make it writable for this user", path, err)
		}
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := writeFile(certPath+waiting, text, 0o644); err != nil {
		return err
	}
	if err := writeFile(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600); err != nil {
		return err
	}
	return putInPlace(certPath)
}

// complete finishes a creation that stopped after the key was written. If no unfinished certificate matches the key, it
// changes nothing and returns the error that the certificate is missing.
func complete(certPath, keyPath string) error {
	if _, err := Load(certPath+waiting, keyPath); err != nil {
		return halfThere(certPath, keyPath)
	}
	return putInPlace(certPath)
}

// Load returns the identity in two PEM files. It creates no files. The errors are the same as for LoadOrCreate.
func Load(certPath, keyPath string) (*Identity, error) {
	der, err := readPEM(certPath, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	certificate, err := ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", certPath, err, remedy)
	}
	if err := ownerOnly(keyPath); err != nil {
		return nil, err
	}
	pkcs8, err := readPEM(keyPath, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): %s", keyPath, err, remedy)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds a key of another kind than Ed25519: %s", keyPath, remedy)
	}
	if !certificate.PublicKey.Equal(key.Public()) {
		return nil, fmt.Errorf("%s does not belong to %s: %s", keyPath, certPath, remedy)
	}
	return &Identity{Certificate: certificate, key: key}, nil
}
