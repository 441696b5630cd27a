package trust // inside: it shares rig_test.go

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const newToken = "the next token of app, 0123456789 0123"

// A locked token admits no new agent under any name and in any list until the token is changed. Pinned agents continue.
func TestRevokeAndLock_TheTokenAdmitsNobodyUntilItIsChanged(t *testing.T) {
	r := newRig(t)
	bad, good := r.agent("bad"), r.agent("good")
	bad.enrol("app.test")
	good.enrol("app.test")
	if got := r.trust.Services("bad"); !slices.Equal(got, []string{"app.test"}) {
		t.Errorf("it knew %v", got)
	}
	locked, err := r.trust.RevokeAndLock(t.Context(), "bad", "stolen")
	if err != nil || !slices.Equal(locked, []string{"app.test"}) {
		t.Fatalf("%v, %v", locked, err)
	}
	refused := func() {
		t.Helper()
		r.told(bad.enrolment("app.test"), wire.CodeRevoked)
		r.told(r.agent("bad-again").enrolment("app.test"), wire.CodeLocked)
	}
	refused()
	r.taken(good.beat())
	r.taken(good.enrolment("app.test"))
	db := r.agent("db")
	db.enrol("db.test")
	if m := r.taken(db.enrolment("app.test")); len(m.Refused) != 1 || m.Refused[0].Code != wire.CodeLocked {
		t.Errorf("an agent of another service gets the locked one: %+v", m.Refused)
	}
	r.restart()
	refused()
	r.taken(good.enrolment("app.test"))
	if l := r.trust.Locks(); len(l) != 1 || l[0].Service != "app.test" || !l[0].Closed || l[0].AgentID != "bad" {
		t.Errorf("%+v", l)
	}

	r.trust.SetTokens(map[string][]string{"app.test": {newToken, appToken}, "db.test": {dbToken}}, rigPolicies)
	refused()
	if l := r.trust.Locks(); len(l) != 1 || l[0].Closed {
		t.Errorf("%+v with a new token and the old one", l)
	}
	r.taken(r.agent("new").enrolment("app.test=" + newToken))
	r.trust.SetTokens(map[string][]string{"db.test": {dbToken}}, rigPolicies)
	if len(r.trust.Locks()) != 1 {
		t.Error("a service without a token is no longer locked")
	}
	r.trust.SetTokens(map[string][]string{"app.test": {newToken}, "db.test": {dbToken}}, rigPolicies)
	if len(r.trust.Locks()) != 0 || len(r.pins.locks) != 0 {
		t.Error("a changed token is still locked")
	}
}

// A disk that hangs while the removed locks are stored delays no message.
//
// Fault 30.
func TestSetTokens_LiftsALockWithoutHoldingUpMessages(t *testing.T) {
	r := newRig(t)
	r.agent("bad").enrol("app.test")
	good := r.agent("good")
	good.enrol("app.test")
	if _, err := r.trust.RevokeAndLock(t.Context(), "bad", "stolen"); err != nil {
		t.Fatal(err)
	}
	stored := false
	r.pins.meanwhile = func() {
		if stored = r.trust.mu.TryRLock(); stored {
			r.trust.mu.RUnlock()
		}
	}
	r.trust.SetTokens(map[string][]string{"app.test": {newToken}, "db.test": {dbToken}}, rigPolicies)
	if !stored || len(r.pins.locks) != 0 {
		t.Errorf("the lock was stored as lifted while messages waited; stored are %v", r.pins.locks)
	}
}

func TestUnlock_KeepsALockThatIsMadeMeanwhile(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"one", "two"} {
		r.agent(id).enrol("app.test")
	}
	if _, err := r.trust.RevokeAndLock(t.Context(), "one", "x"); err != nil {
		t.Fatal(err)
	}
	r.pins.meanwhile = func() {
		if _, err := r.trust.RevokeAndLock(t.Context(), "two", "x"); err != nil {
			t.Error(err)
		}
	}
	must(t, r.trust.Unlock(t.Context(), "app.test"))
	if l := r.trust.Locks(); len(l) != 1 || l[0].AgentID != "two" || len(r.pins.locks) != 1 {
		t.Errorf("locked are %+v, stored %v", l, r.pins.locks)
	}
}

func TestUnlock_AdmitsAgain(t *testing.T) {
	r := newRig(t)
	r.agent("bad").enrol("app.test")
	if _, err := r.trust.RevokeAndLock(t.Context(), "nobody", "x"); !errors.Is(err, ErrNotPinned) {
		t.Error(err)
	}
	if _, err := r.trust.RevokeAndLock(t.Context(), "bad", "x"); err != nil {
		t.Fatal(err)
	}
	must(t, r.trust.Unlock(t.Context(), "app.test"))
	if err := r.trust.Unlock(t.Context(), "app.test"); !errors.Is(err, ErrNotLocked) {
		t.Error(err)
	}
	r.agent("next").enrol("app.test")
}

func TestRevokeAndLock_HoldsUntilARestartWhereItCannotBeStored(t *testing.T) {
	r := newRig(t)
	r.agent("bad").enrol("app.test")
	r.pins.setFull(true)
	if _, err := r.trust.RevokeAndLock(t.Context(), "bad", "x"); err == nil {
		t.Error("no error from a full disk")
	}
	r.told(r.agent("next").enrolment("app.test"), wire.CodeLocked)
}

// The certificate of a revoked agent is refused under every id, and so is a new certificate for its key.
func TestOpen_ARevokedKeyIsRefusedUnderAnotherID(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	bad := r.agentOf(dir, "bad", r.now())
	bad.enrol("app.test")
	must(t, r.trust.Revoke(t.Context(), "bad", "stolen"))
	r.refused(bad.enrolmentWith(func(e *wire.Enrol) { e.AgentID = "good" }, "app.test"), Reason(wire.CodeRevoked.String()))
	certifyAgain(t, dir, "good", r.now())
	again := r.agentOf(dir, "good", r.now())
	if again.id.KeyID == bad.id.KeyID || !again.id.PublicKey.Equal(bad.id.PublicKey) {
		t.Fatal("the second certificate must be another one for the same key")
	}
	r.told(again.enrolment("app.test"), wire.CodeRevoked)
}

// certifyAgain replaces the certificate in a directory with a certificate of another name for the same key.
func certifyAgain(t *testing.T, dir, name string, now time.Time) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "key"))
	must(t, err)
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: name}, NotBefore: now.UTC().Truncate(time.Second),
		NotAfter: now.UTC().Truncate(time.Second).Add(identity.Validity), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.(ed25519.PrivateKey).Public(), key)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		0o600))
}
