package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

// Environment variables for the secret key that signs SHA256SUMS.
const (
	keyVariable      = "MINISIGN_KEY"      // the path of its file, as minisign -G makes it
	passwordVariable = "MINISIGN_PASSWORD" // its password, if it has one
)

// signer reads a secret key file of minisign. It returns nil for an empty path.
func signer(path string) (*minisign.PrivateKey, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("secret key: %w", err)
	}
	if minisign.IsEncrypted(text) {
		password, given := os.LookupEnv(passwordVariable)
		if !given {
			return nil, fmt.Errorf("secret key %s has a password: give it in the variable %s", path, passwordVariable)
		}
		key, err := minisign.DecryptKey(password, text)
		if err != nil {
			return nil, fmt.Errorf("secret key %s with the password in %s: %w", path, passwordVariable, err)
		}
		return &key, nil
	}
	var key minisign.PrivateKey
	if err := key.UnmarshalText(text); err != nil {
		return nil, fmt.Errorf("%s is no secret key of minisign (minisign -G makes one): %w", path, err)
	}
	return &key, nil
}

// sign writes the signature SHA256SUMS.minisig. It writes the same bytes for the same sums and key. Without a key it
// prints that there is no signature.
func (r *release) sign(key *minisign.PrivateKey) error {
	sums := filepath.Join(r.out, "SHA256SUMS")
	if key == nil {
		fmt.Printf("  %s is not signed: %s names no secret key (packaging/README.md)\n", sums, keyVariable)
		return nil
	}
	public, ok := key.Public().(minisign.PublicKey)
	if !ok {
		return errors.New("the secret key has no public one")
	}
	content, err := os.ReadFile(sums)
	if err != nil {
		return err
	}
	hashed := minisign.NewReader(bytes.NewReader(content))
	if _, err := io.Copy(io.Discard, hashed); err != nil {
		return err
	}
	trusted := fmt.Sprintf("timestamp:%d\tfile:SHA256SUMS\tcommit:%s\thashed", r.date.Unix(), r.commit)
	signature := hashed.SignWithComments(*key, trusted, "signature by the key "+public.String())
	fmt.Printf("  %s.minisig, to be verified with: minisign -Vm SHA256SUMS -P %s\n", sums, public)
	return os.WriteFile(sums+".minisig", signature, 0o644)
}

// sums writes SHA256SUMS, as sha256sum --check reads it.
func (r *release) sums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(content), f.Name())
	}
	path := filepath.Join(r.out, "SHA256SUMS")
	fmt.Println(" ", path)
	return os.WriteFile(path, []byte(list.String()), 0o644)
}
