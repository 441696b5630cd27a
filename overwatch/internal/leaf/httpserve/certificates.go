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

// recheck is the time between two looks for changed files.
const recheck = time.Second

// TLSFiles are paths of PEM files.
type TLSFiles struct {
	Certificate string // the server's, then those that lead to its authority
	Key         string // refused when group or others can read or write it
	ClientCA    string // authorities of which clients need a certificate; "" wants none
}

// Certificates is the server side of TLS 1.2 or later. It reads its files again when they change. Unusable files
// leave the previous contents in use.
type Certificates struct {
	files  TLSFiles
	report func(error) // of files that changed: nil when they are in use now

	mu     sync.Mutex
	looked time.Time   // when the files were last looked at
	seen   string      // what they looked like
	config *tls.Config // never changed
	dated  []Dated     // never changed
}

// Dated is a certificate of the files in use and its end.
type Dated struct {
	File     string
	Subject  string
	NotAfter time.Time
}

// Dated lists the certificates in use: the server's, those that lead to its authority, and the authorities of clients.
func (c *Certificates) Dated() []Dated {
	c.current()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dated
}

// LoadCertificates reads the files. report is called after later changes of them, with nil when they are in use; it
// may be called from any goroutine and must not block.
func LoadCertificates(files TLSFiles, report func(error)) (*Certificates, error) {
	c := &Certificates{files: files, report: report, looked: time.Now(), seen: files.look()}
	var err error
	c.config, err = files.load()
	if err == nil {
		c.dated = files.dated()
	}
	return c, err
}

// Config returns the settings of a listener, by which each handshake uses the files of that moment.
func (c *Certificates) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return c.current(), nil
		},
	}
}

// current returns the settings of the files, which are at most recheck old.
func (c *Certificates) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < recheck {
		return c.config
	}
	c.looked = time.Now()
	now := c.files.look()
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

// look returns a text that changes when a file is replaced or changed, without reading the files. It follows links,
// because some tools replace all files by one link.
func (f TLSFiles) look() string {
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

// dated reads the certificates of the files. What cannot be read is left out: load has refused it.
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

// LoadPair reads a certificate and its private key, which is refused when group or others can read or write it.
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
