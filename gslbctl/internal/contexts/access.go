package contexts

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
)

// maxToken is the maximum length of a token in octets. A header contains the token.
const maxToken = 4096

// TLSConfig returns the TLS settings for connections to the nodes. nil means the defaults of the system.
func (c Context) TLSConfig() (*tls.Config, error) {
	if c.CA == "" && c.ClientCert == "" && c.ServerName == "" {
		return nil, nil
	}
	config := &tls.Config{ServerName: c.ServerName, MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the trusted certificates: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate in PEM form in it", c.CA)
		}
	}
	if c.ClientCert != "" {
		if err := ownersOnly(c.ClientKey, "the key of the client certificate"); err != nil {
			return nil, err
		}
		pair, err := tls.LoadX509KeyPair(c.ClientCert, c.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("reading the client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Secret returns the token for the nodes, or "".
func (c Context) Secret() (string, error) {
	if c.TokenFile == "" {
		return c.Token, CheckToken(c.Token)
	}
	if err := ownersOnly(c.TokenFile, "the token"); err != nil {
		return "", err
	}
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimRight(string(text), "\r\n")
	if token == "" {
		return "", fmt.Errorf("%s has no token in it", c.TokenFile)
	}
	return token, CheckToken(token)
}

// CheckToken returns an error for a token that is invalid in an HTTP header. The error does not contain the token.
func CheckToken(token string) error {
	if len(token) > maxToken {
		return fmt.Errorf("the token is %d bytes long: at most %d are possible", len(token), maxToken)
	}
	for _, r := range token {
		if r <= ' ' || r >= 0x7f {
			return fmt.Errorf(
				"the token has a character in it that no token can have: only visible ASCII characters are possible")
		}
	}
	return nil
}

// ownersOnly returns an error for a file with a secret if other users can read or write the file.
func ownersOnly(path, what string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("reading %s: %w", what, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file, and %s must be in one", path, what)
	case exposed(info.Mode()):
		return fmt.Errorf("%s has %s in it and others may read it: run chmod 600 %[1]s", path, what)
	}
	return nil
}
