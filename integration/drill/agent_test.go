package drill_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// flapWindow is the key overwatch.flapping.window of the nodes. It is longer than three stops take.
const flapWindow = 30 * time.Second

// flaps is a backend that stops three times. It flaps until flapWindow has passed since the first stop. All backends
// must serve at the start: mass-failure protection holds a backend whose failure would be the last of its region. A
// hold of a previous situation must have ended, because it covers further backends for a window after its last held
// backend.
func (w *week) flaps(b *harness.Backend) situation {
	s := situation{
		name: "a backend flaps", condition: api.Flapping, subjects: []string{testbed.AppName + ":" + b.At.String()},
		event: api.EventBackend, begun: "flapping", over: "healthy", lasts: flapWindow,
		begin: func(t *testing.T) { testbed.Tell(t, b, "/unhealthy") },
		end:   func(t *testing.T) { testbed.Tell(t, b, "/healthy") },
	}
	s.prepare = func(t *testing.T) {
		w.noHolds(t)
		began := time.Now()
		for _, other := range w.Backends {
			for _, n := range w.Nodes {
				w.Status(t, n, other, testbed.StartBound, testbed.SoundSince(began))
			}
		}
		for cycle := range 2 {
			testbed.Tell(t, b, "/unhealthy")
			for _, n := range w.Nodes {
				w.Status(t, n, b, testbed.StartBound, func(v api.Backend) error {
					if v.MayServe {
						return errors.New("it serves")
					}
					return nil
				})
			}
			testbed.Tell(t, b, "/healthy")
			testbed.Until(t, testbed.StartBound, "the end of a stop", func(ctx context.Context) error {
				ended := 0
				for _, one := range w.hook.since(began) {
					for _, e := range one.Data.Events {
						if s.about(&e) && e.State == s.over && one.Type == ends {
							ended++
						}
					}
				}
				if ended <= cycle {
					return fmt.Errorf("%d messages", ended)
				}
				return w.noConditions(ctx)
			})
		}
	}
	return s
}

// noHolds waits until no node has a mass-failure hold, including holds without a held backend.
func (w *week) noHolds(t *testing.T) {
	t.Helper()
	for _, n := range w.Nodes {
		testbed.Until(t, testbed.StartBound, n.Name+" to end its mass-failure holds", func(ctx context.Context) error {
			list, err := n.Client.Brakes(ctx)
			if err != nil || len(list.Brakes) == 0 {
				return err
			}
			return fmt.Errorf("%d holds", len(list.Brakes))
		})
	}
}

// shortLife is the time until the certificate of an agent expires.
const shortLife = 10 * time.Second

// expiredCertificate is an agent of an additional backend with an expired certificate, and the documented procedure for
// a new certificate.
func (w *week) expiredCertificate(t *testing.T) situation {
	t.Helper()
	const name = "short"
	added, err := w.AddBackends(map[string]netip.Addr{name: netip.MustParseAddr("127.0.3.100")})
	if err != nil {
		t.Fatal(err)
	}
	b := added[name]
	a := w.prepareAgent(t, name, "eu")
	a.File.Agent.Backends = a.File.Agent.Backends[:1]
	a.File.Agent.Backends[0].Address, a.File.Agent.Backends[0].Port = b.At.Addr(), b.At.Port()
	var expires time.Time
	sound := func(t *testing.T) {
		for _, n := range w.Nodes {
			w.Status(t, n, b, testbed.StartBound, testbed.WantSound)
		}
	}
	return situation{
		name: "an expired certificate of an agent",
		prepare: func(t *testing.T) {
			w.probe.add(b)
			testbed.Start(t, b)
			expires = time.Now().Add(shortLife).Truncate(time.Second)
			if err := writeIdentity(a.File.DataDir, name, expires); err != nil {
				t.Fatal(err)
			}
			testbed.Start(t, a)
			sound(t)
		},
		begin: func(t *testing.T) { time.Sleep(time.Until(expires)) }, // the certificate has to expire
		end: func(t *testing.T) {
			testbed.Kill(t, a)
			testbed.Command(t, testbed.Binaries(t).Agent, "--config", a.Path, "--reset-identity").Want(t, testbed.ExitOK)
			w.gslbctl(t, "agents", "unpin", name, "--yes").Want(t, 0)
			testbed.Start(t, a)
			sound(t)
		},
		condition: api.AgentRefused, subjects: []string{name}, event: api.EventAgent, begun: "refused", over: "accepted",
		beside: kinds(api.EventBackend, api.EventCertificate), // a certificate has been about to expire from its beginning
		early:  api.CertificateEnds,
	}
}

// writeIdentity writes the certificate and the key of an agent. The certificate expires at a time.
func writeIdentity(dir, name string, expires time.Time) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: expires.Add(-time.Hour), NotAfter: expires, KeyUsage: x509.KeyUsageDigitalSignature}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	text := func(kind string, der []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	return errors.Join(os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "agent.crt"), text("CERTIFICATE", certificate), 0o644),
		os.WriteFile(filepath.Join(dir, "agent.key"), text("PRIVATE KEY", key), 0o600))
}
