package peerauth

import (
	"crypto/tls"
	"fmt"
	"net/http"

	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/overwatch/internal/state/config"
)

// NewTransport returns the HTTP transport for peers. It uses no proxy.
func NewTransport(files TLSFiles) (*http.Transport, error) {
	config, err := files.Config()
	if err != nil {
		return nil, err
	}
	return &http.Transport{DisableCompression: true, MaxResponseHeaderBytes: 16 << 10, ForceAttemptHTTP2: true,
		TLSClientConfig: config}, nil
}

// NewHTTPClient returns an HTTP client that follows no redirect, because requests are only for the configured peers.
func NewHTTPClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// TLSFiles are the PEM files for peers with https URLs. NewTransport reads the files, so a change takes effect with the
// next transport.
type TLSFiles struct {
	CA          string // authorities of the peers' certificates; "": the authorities of the machine
	Certificate string // client certificate; "": none
	Key         string // key of Certificate; group and others must not have access
}

// TLSFilesOf returns the TLS files of a configuration.
func TLSFilesOf(c *config.Config) TLSFiles {
	sync := &c.Overwatch.DNSSEC.KeySync
	return TLSFiles{CA: sync.CA, Certificate: sync.Certificate, Key: sync.Key}
}

// Config returns the client configuration, for TLS 1.2 or later. The errors name the configuration key and the file.
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
