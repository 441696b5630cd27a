package replication_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

var pebbleVersion = flag.String("pebble", "", "version of the ACME server Pebble to build and run")

// certified is the name of the certificate, and certifiedChallenge the name of its challenge.
const (
	certified          = "www.test.gslb.test"
	certifiedChallenge = "_acme-challenge." + certified
)

// acmeServer is Pebble, an ACME server with its own root.
type acmeServer struct {
	directory string // URL
	roots     string // URL of the root of its certificates
	file      string // certificate of its HTTPS server
	client    *http.Client
}

// startPebble builds and starts Pebble, which validates challenges by a DNS server.
func startPebble(t *testing.T, version, dnsServer string) *acmeServer {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "install", "-ldflags=-s -w",
		"github.com/letsencrypt/pebble/v2/cmd/pebble@"+version)
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "pebble"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	at, management := testbed.UnusedAddress(t), testbed.UnusedAddress(t)
	s := &acmeServer{directory: "https://" + at + "/dir", roots: "https://" + management + "/roots/0",
		file: filepath.Join(dir, "cert.pem")}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	s.client = &http.Client{Timeout: reachBound, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{"listenAddress": at,
		"managementListenAddress": management, "certificate": s.file, "privateKey": filepath.Join(dir, "key.pem"),
		"httpPort": 1, "tlsPort": 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"cert.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		"key.pem":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), "config.json": config} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "pebble"), "-config", filepath.Join(dir, "config.json"),
		"-dnsserver", dnsServer, "-strict=false")
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	testbed.Start(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("pebble:\n%s", out.String())
		}
	})
	testbed.Until(t, reachBound, "Pebble to answer", func(ctx context.Context) error {
		_, err := s.get(ctx, s.directory)
		return err
	})
	return s
}

func (s *acmeServer) get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	reply, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	return io.ReadAll(reply.Body)
}

// front is the single DNS address that lego has. It forwards UDP messages to one node, and to another node after the
// death of the first.
type front struct {
	address string
	to      atomic.Pointer[harness.Node]
	stop    func() // waits for the end of calls of accepted
}

// startFront starts a front of a node. accepted is called before the front returns the response to a successful UPDATE
// message.
func startFront(t *testing.T, n *harness.Node, accepted func(f *front, update *dns.Msg)) *front {
	t.Helper()
	var config net.ListenConfig
	conn, err := config.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{address: conn.LocalAddr().String()}
	f.to.Store(n)
	done := make(chan struct{})
	go func() {
		defer close(done)
		message := make([]byte, dns.MaxMsgSize)
		for {
			size, client, err := conn.ReadFrom(message)
			if err != nil {
				return
			}
			reply, err := forward(f.to.Load().DNS.String(), message[:size])
			if err != nil {
				continue // the client repeats the message
			}
			var query, response dns.Msg
			if query.Unpack(message[:size]) == nil && response.Unpack(reply) == nil &&
				query.Opcode == dns.OpcodeUpdate && response.Rcode == dns.RcodeSuccess {
				accepted(f, &query)
			}
			_, _ = conn.WriteTo(reply, client)
		}
	}()
	f.stop = func() {
		conn.Close()
		<-done
	}
	t.Cleanup(f.stop)
	return f
}

// forward sends a message to a DNS server over UDP and returns the response.
func forward(server string, message []byte) ([]byte, error) {
	conn, err := net.DialTimeout("udp", server, time.Second) //nolint:noctx // the timeout bounds it
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(reachBound)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(message); err != nil {
		return nil, err
	}
	reply := make([]byte, dns.MaxMsgSize)
	size, err := conn.Read(reply)
	return reply[:size], err
}

// has reports whether a node answers a name with TXT data. It calls no function of testing.T.
func has(n *harness.Node, name string) bool {
	query := new(dns.Msg)
	query.SetQuestion(dns.Fqdn(name), dns.TypeTXT)
	reply, _, err := (&dns.Client{Timeout: time.Second}).Exchange(query, n.DNS.String())
	return err == nil && len(reply.Answer) > 0
}

// lego obtains a certificate by DNS UPDATE. A node accepts the challenge, replicates it and is killed. Pebble validates
// the challenge at another node, which also accepts the deletion. The first node deletes the challenge after its start.
// -pebble is the version of Pebble, which is built first; lego is the package of Debian.
func TestACME_LegoObtainsACertificateThroughTwoNodes(t *testing.T) {
	if *pebbleVersion == "" {
		t.Skip("-pebble=v2.8.0 builds and runs it, as make test-long does")
	}
	lego := testbed.Judge(t, "lego")
	s := guarded(t, harness.NewToken())
	first, second := s.Nodes[0], s.Nodes[1]
	s.StartNodes(t, s.Nodes...)
	key := "acme.gslb.test"
	made, err := first.Client.CreateToken(t.Context(), api.TokenChange{"name": key, "type": "tsig",
		"algorithm": "hmac-sha256", "scope": map[string]any{"names": []string{certifiedChallenge}}})
	if err != nil {
		t.Fatal(err)
	}
	testbed.Until(t, reachBound, "the key to reach the second node", func(ctx context.Context) error {
		out, err := nsupdate(ctx, second, key, made.Secret, false, "update delete "+certifiedChallenge+" TXT")
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	pebble := startPebble(t, *pebbleVersion, second.DNS.String())
	var updates []*dns.Msg
	var killed error
	f := startFront(t, first, func(f *front, update *dns.Msg) {
		if updates = append(updates, update); len(updates) > 1 {
			return
		}
		for end := time.Now().Add(reachBound); !has(second, certifiedChallenge) && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond) // between two queries
		}
		_, killed = first.Kill()
		f.to.Store(second)
	})
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), lego, "--server", pebble.directory, "--accept-tos", "--email", "a@gslb.test",
		"--domains", certified, "--path", dir, "--dns", "rfc2136", "--dns.resolvers", f.address, "--dns.disable-cp", "run")
	cmd.Env = append(os.Environ(), "LEGO_CA_CERTIFICATES="+pebble.file, "RFC2136_NAMESERVER="+f.address,
		"RFC2136_TSIG_KEY="+key, "RFC2136_TSIG_SECRET="+made.Secret, "RFC2136_TSIG_ALGORITHM=hmac-sha256.",
		"RFC2136_DNS_TIMEOUT=30s")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("lego: %v\n%s", err, out)
	}
	f.stop()
	if killed != nil || first.Running() || len(updates) != 2 {
		t.Fatalf("kill: %v, the first node runs: %v, %d updates", killed, first.Running(), len(updates))
	}
	verify(t, pebble, filepath.Join(dir, "certificates", certified+".crt"))
	answersTexts(t, certifiedChallenge, nil, second)
	testbed.Start(t, first)
	s.Ready(t, first)
	answersTexts(t, certifiedChallenge, nil, first)
}

// verify checks that a file has a chain of certificates from a root of Pebble for the name.
func verify(t *testing.T, pebble *acmeServer, file string) {
	t.Helper()
	root, err := pebble.get(t.Context(), pebble.roots)
	if err != nil {
		t.Fatal(err)
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	rest, err := os.ReadFile(file)
	if err != nil || !roots.AppendCertsFromPEM(root) {
		t.Fatalf("root: %s, %v", root, err)
	}
	leaf, rest := pem.Decode(rest)
	if leaf == nil {
		t.Fatalf("%s has no certificate", file)
	}
	between.AppendCertsFromPEM(rest)
	cert, err := x509.ParseCertificate(leaf.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{DNSName: certified, Roots: roots, Intermediates: between}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(cert.DNSNames, []string{certified}) {
		t.Errorf("names of the certificate: %v", cert.DNSNames)
	}
}
