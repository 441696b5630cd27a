package httpserve // inside: it uses conn and connKey

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// issued is a certificate with its key.
type issued struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue creates a certificate. If by is nil, it creates an authority.
func issue(t *testing.T, name string, by *issued) *issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, key
	if by == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	} else {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &issued{cert, key}
}

func (i *issued) write(t *testing.T, certificate, key string) {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(i.key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: i.cert.Raw},
		key: {Type: "EC PRIVATE KEY", Bytes: der}} {
		if path == "" {
			continue
		}
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (i *issued) pair() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{i.cert.Raw}, PrivateKey: i.key}
}

// secured starts a TLS server, and returns its address and the channel for changes of the files.
func secured(t *testing.T, files TLSFiles) (addr string, told chan error) {
	t.Helper()
	told = make(chan error, 10)
	certificates, err := LoadCertificates(files, func(err error) { told <- err })
	if err != nil {
		t.Fatal(err)
	}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	server := &http.Server{TLSConfig: certificates.Config(), ReadHeaderTimeout: deadline,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, known := r.Context().Value(connKey{}).(*conn)
			done := Answering(r)
			if !known || !c.busy {
				t.Error("a connection over TLS is not known as one that is being answered")
			}
			done()
			_, _ = w.Write([]byte(r.Proto))
		})}
	go func() { ended <- Run(ctx, server, Bound(inner, 4), time.Second) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return inner.Addr().String(), told
}

// ask sends one request on a new connection and returns the certificate of the server.
func ask(t *testing.T, addr string, config *tls.Config) (*x509.Certificate, error) {
	t.Helper()
	client := http.Client{Timeout: deadline, Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true,
		ForceAttemptHTTP2: true}}
	resp, err := client.Get("https://" + addr)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return resp.TLS.PeerCertificates[0], nil
}

func TestCertificates_NewFilesAreUsedAndBrokenOnesAreNot(t *testing.T) {
	dir := t.TempDir()
	files := TLSFiles{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	authority := issue(t, "authority", nil)
	first, second := issue(t, "first", authority), issue(t, "second", authority)
	first.write(t, files.Certificate, files.Key)
	addr, told := secured(t, files)
	roots := x509.NewCertPool()
	roots.AddCert(authority.cert)
	trusting := &tls.Config{RootCAs: roots}
	expect := func(what string, want *issued) {
		t.Helper()
		got, err := ask(t, addr, trusting)
		if err != nil || !bytes.Equal(got.Raw, want.cert.Raw) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	expect("at first", first)
	changed := func() error {
		t.Helper()
		for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
			_, _ = ask(t, addr, trusting)
			select {
			case err := <-told:
				return err
			case <-time.After(20 * time.Millisecond):
			}
		}
		t.Fatal("the change was not seen")
		return nil
	}
	if err := os.WriteFile(files.Certificate, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := changed(); err == nil {
		t.Error("nonsense was taken")
	}
	expect("after nonsense", first)
	second.write(t, files.Certificate, files.Key)
	for err := changed(); err != nil; err = changed() { // the server may read the files between the two writes
		t.Log(err)
	}
	expect("after the change", second)
}

func TestCertificates_OldVersionsAndStrangersAreRefused(t *testing.T) {
	dir := t.TempDir()
	files := TLSFiles{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"),
		ClientCA: filepath.Join(dir, "ca.pem")}
	authority, other := issue(t, "authority", nil), issue(t, "other", nil)
	issue(t, "server", authority).write(t, files.Certificate, files.Key)
	authority.write(t, files.ClientCA, "")
	addr, _ := secured(t, files)
	roots := x509.NewCertPool()
	roots.AddCert(authority.cert)
	with := func(of *issued) []tls.Certificate { return []tls.Certificate{of.pair()} }
	for name, config := range map[string]*tls.Config{
		"TLS 1.1": {RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11,
			Certificates: with(issue(t, "client", authority))},
		"no certificate":     {RootCAs: roots},
		"a foreign one":      {RootCAs: roots, Certificates: with(issue(t, "client", other))},
		"its own signature":  {RootCAs: roots, Certificates: with(issue(t, "client", nil))},
		"another authority":  {RootCAs: x509.NewCertPool(), Certificates: with(issue(t, "client", authority))},
		"max 1.2, no client": {RootCAs: roots, MaxVersion: tls.VersionTLS12},
	} {
		if _, err := ask(t, addr, config); err == nil {
			t.Errorf("%s: was answered", name)
		}
	}
	if _, err := ask(t, addr, &tls.Config{RootCAs: roots, Certificates: with(issue(t, "client", authority))}); err != nil {
		t.Error(err)
	}
}

// The server returns the expiry times of all certificates in use: its own certificates and those of the authorities.
func TestCertificates_TellTheirEnds(t *testing.T) {
	dir := t.TempDir()
	files := TLSFiles{Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"),
		ClientCA: filepath.Join(dir, "ca.pem")}
	authority := issue(t, "authority", nil)
	server := issue(t, "server", authority)
	server.write(t, files.Certificate, files.Key)
	authority.write(t, files.ClientCA, "")
	c, err := LoadCertificates(files, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	list := c.Dated()
	if len(list) != 2 || list[0] != (Dated{files.Certificate, "CN=server", server.cert.NotAfter}) ||
		list[1] != (Dated{files.ClientCA, "CN=authority", authority.cert.NotAfter}) {
		t.Errorf("%+v", list)
	}
}

func TestLoadCertificates_SaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	one, two := issue(t, "one", nil), issue(t, "two", nil)
	one.write(t, path("cert"), path("key"))
	two.write(t, "", path("other-key"))
	if err := os.WriteFile(path("empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	one.write(t, "", path("open-key"))
	if err := os.Chmod(path("open-key"), 0o644); err != nil { //nolint:gosec // the server must reject these permissions
		t.Fatal(err)
	}
	for want, files := range map[string]TLSFiles{
		"no such file":      {Certificate: path("cert"), Key: path("nothing")},
		"does not match":    {Certificate: path("cert"), Key: path("other-key")},
		"failed to find":    {Certificate: path("empty"), Key: path("key")},
		"chmod 600":         {Certificate: path("cert"), Key: path("open-key")},
		"no certificate in": {Certificate: path("cert"), Key: path("key"), ClientCA: path("empty")},
	} {
		if _, err := LoadCertificates(files, func(error) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
