package registry // inside: it uses agent

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// authority creates agents that a real Trust has authenticated, the only agents that the registry accepts.
type authority struct {
	t     testing.TB
	trust *trust.Trust
	boot  identity.Nonce
}

// pinsInMemory is a PinStore in the memory of the test.
type pinsInMemory struct{}

func (pinsInMemory) LoadPins() ([]store.Pin, error)         { return nil, nil }
func (pinsInMemory) PutPin(store.Pin, ...store.Entry) error { return nil }
func (pinsInMemory) DeletePin(string, ...store.Entry) error { return nil }

func (pinsInMemory) ChangePins(store.PinChange, ...store.Entry) error { return nil }
func (pinsInMemory) LoadLocks() ([]store.TokenLock, error)            { return nil, nil }
func (pinsInMemory) LoadPin(string) (store.Pin, bool, error)          { return store.Pin{}, false, nil }

const token = "a token of thirty-two characters"

// fleetLimits permits all agents of the largest benchmark at the same time.
var fleetLimits = trust.Limits{MaxAgents: 20_000, NewPerSecond: 20_000}

// newAuthority has tokens for the services a.example to d.example. Backends of d.example must be in 10.0.0.0/8.
func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t, boot: identity.NewNonce()}
	var err error
	a.trust, err = trust.New(trust.Options{
		Tokens:   map[string][]string{"a.example": {token}, "b.example": {token}, "c.example": {token}, "d.example": {token}},
		Policies: map[string][]netip.Prefix{"d.example": {netip.MustParsePrefix("10.0.0.0/8")}},
		Limits:   map[string]trust.Limits{"a.example": fleetLimits, "b.example": fleetLimits, "c.example": fleetLimits},
		Boot:     a.boot, Pins: pinsInMemory{}, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// agent enrols an agent for services.
func (a *authority) agent(id, region string, services ...string) trust.Agent {
	a.t.Helper()
	who := a.identity(id)
	enrol := wire.Enrol{AgentID: id, Region: region, Version: "test", Certificate: who.DER}
	for _, service := range services {
		enrol.Proofs = append(enrol.Proofs, wire.Proof{Service: service,
			MAC: identity.Proof(token, service, who.KeyID, a.boot, 1)})
	}
	payload, err := enrol.MarshalBinary()
	if err != nil {
		a.t.Fatal(err)
	}
	m, refusal := a.trust.Open(who.Seal(identity.AgentToNode, identity.Envelope{
		Major: wire.Major, Type: uint8(wire.TypeEnrol), BootNonce: a.boot, Epoch: 1, Seq: 1, Payload: payload,
	}), netip.Addr{})
	if refusal != nil {
		a.t.Fatal(refusal)
	}
	return m.Agent
}

// identity creates a key and a certificate without writing them to disk.
func (a *authority) identity(id string) *identity.Identity {
	a.t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: id}, NotBefore: now,
		NotAfter: now.Add(300 * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, pub, key)
	if err != nil {
		a.t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	dir := a.t.TempDir()
	certPath, keyPath := filepath.Join(dir, "agent.crt"), filepath.Join(dir, "agent.key")
	for path, block := range map[string]*pem.Block{certPath: {Type: "CERTIFICATE", Bytes: der},
		keyPath: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	who, _, err := identity.LoadOrCreate(certPath, keyPath, id, now)
	if err != nil {
		a.t.Fatal(err)
	}
	return who
}
