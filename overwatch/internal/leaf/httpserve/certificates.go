package httpserve

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// recheck is the interval of checks for changed files.
const recheck = time.Second

// TLSFiles are paths of PEM files.
type TLSFiles struct {
	Certificate string // server certificate, followed by intermediate certificates
	Key         string // rejected if group or others can read or write it
	ClientCA    string // CA certificates for client certificates; "" disables them
}

// Certificates is the server configuration of TLS 1.2 or later. It reloads changed files. After an error, the previous
// contents remain active. It is safe for concurrent use.
type Certificates struct {
	files  TLSFiles
	report func(error) // receives the result of each reload

	mu     sync.Mutex
	looked time.Time   // time of the last check
	seen   string      // state of the files at the last check
	config *tls.Config // never changed
	dated  []Dated     // never changed
}

// Dated is an active certificate with its expiration.
type Dated struct {
	File     string
	Subject  string
	NotAfter time.Time
}

// Dated returns the active certificates: server, intermediate and client CA certificates.
func (c *Certificates) Dated() []Dated {
	c.current()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dated
}

// LoadCertificates reads the files. report receives the result of each later reload, nil for success; it must be safe
// for concurrent use and must not block.
func LoadCertificates(files TLSFiles, report func(error)) (*Certificates, error) {
	c := &Certificates{files: files, report: report, looked: time.Now(), seen: files.fingerprint()}
	var err error
	c.config, err = files.load()
	if err == nil {
		c.dated = files.dated()
	}
	return c, err
}

// Config returns the configuration of a listener. Each handshake uses the current files.
func (c *Certificates) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.current(), nil
		},
	}
}

// current returns the configuration of the files, with a maximum age of recheck.
func (c *Certificates) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < recheck {
		return c.config
	}
	c.looked = time.Now()
	now := c.files.fingerprint()
	if now == c.seen {
		return c.config
	}
	c.seen = now
	next, err := c.files.load()
	if err == nil {
		c.config, c.dated = next, c.files.dated()
	}
	c.report(err)
	return c.config
}

// fingerprint returns a text that changes when a file is replaced or changed, without reading the files. It follows
// links, because some tools replace all files by one link.
func (f TLSFiles) fingerprint() string {
	var seen string
	for _, path := range []string{f.Certificate, f.Key, f.ClientCA} {
		if info, err := os.Stat(path); err == nil {
			target, _ := filepath.EvalSymlinks(path)
			seen += fmt.Sprint(target, info.Size(), info.ModTime().UnixNano(), ";")
			continue
		}
		seen += ";"
	}
	return seen
}

func (f TLSFiles) load() (*tls.Config, error) {
	pair, err := LoadPair(f.Certificate, f.Key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		NextProtos: []string{"http/1.1"}}
	if f.ClientCA == "" {
		return config, nil
	}
	if config.ClientCAs, err = LoadAuthorities(f.ClientCA); err != nil {
		return nil, fmt.Errorf("the authorities of clients: %w", err)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}

// dated reads the certificates of the files. It skips unreadable files, which load has rejected.
func (f TLSFiles) dated() (list []Dated) {
	for _, path := range []string{f.Certificate, f.ClientCA} {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if x, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
				list = append(list, Dated{File: path, Subject: x.Subject.String(), NotAfter: x.NotAfter})
			}
		}
	}
	return list
}

// LoadPair reads a certificate and its private key. It rejects a key that group or others can read or write.
func LoadPair(certificate, key string) (tls.Certificate, error) {
	info, err := os.Stat(key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("the key of the certificate: %w", err)
	}
	if perm := info.Mode().Perm(); perm&0o066 != 0 {
		return tls.Certificate{}, fmt.Errorf("the key %s is open to group or others (mode %04o): chmod 600 %s", key, perm,
			key)
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("the certificate %s with the key %s: %w", certificate, key, err)
	}
	return pair, nil
}

// LoadAuthorities reads a PEM file with at least one certificate.
func LoadAuthorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(path + " has no certificate in PEM form")
	}
	return pool, nil
}
