package store // inside: it shares versions_test.go

import (
	"errors"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

// pinOf returns the state of an agent's pin in a store: "none", "pinned", "revoked" or "superseded".
func pinOf(t *testing.T, s *Store, id string) string {
	t.Helper()
	p, found, err := s.LoadPin(id)
	switch {
	case err != nil:
		t.Fatal(err)
	case !found:
		return "none"
	case p.Revoked:
		return "revoked"
	case p.Refused():
		return "superseded"
	}
	return "pinned"
}

// A revocation is applied to the pin of another store, to a later pin, and to a store without the pin. A later unpin
// ends it everywhere. Pins themselves are not replicated.
func TestRevocations_WinOverEveryPinUntilALaterUnpin(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	a, b := openNode(t, dirs[0], "a", nil), openNode(t, dirs[1], "b", nil)
	pin := Pin{AgentID: "x", CertificateDER: []byte("one"), FirstSeen: time.Now(), Unreported: true}
	later := pin
	later.FirstSeen = pin.FirstSeen.Add(time.Hour)
	later.CertificateDER = []byte("two")
	revoked := pin
	revoked.Revoked, revoked.RevokedReason = true, "stolen"
	if err := errors.Join(a.PutPin(pin), b.PutPin(later), a.PutPin(Pin{AgentID: "y"})); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	if got := pinOf(t, b, "y"); got != "none" {
		t.Errorf("a pin of another store: %s", got)
	}
	if err := a.PutPin(revoked); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	if err := b.PutPin(later); err != nil { // which was on its way
		t.Fatal(err)
	}
	before := a.Replicas().Changes
	if err := a.PutPin(revoked); err != nil {
		t.Fatal(err)
	}
	if a.Replicas().Changes != before {
		t.Error("the same revocation is told again")
	}
	digest := b.Replicas().Digest
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	a, b = openNode(t, dirs[0], "a", nil), openNode(t, dirs[1], "b", nil)
	if pinOf(t, a, "x") != "revoked" || pinOf(t, b, "x") != "revoked" || b.Replicas().Digest != digest {
		t.Errorf("%s and %s, %+v", pinOf(t, a, "x"), pinOf(t, b, "x"), b.Objects())
	}
	c := openNode(t, t.TempDir(), "c", nil)
	exchange(t, b, c)
	if got := pinOf(t, c, "x"); got != "revoked" {
		t.Errorf("where the agent never was: %s", got)
	}
	if err := c.DeletePin("x"); err != nil {
		t.Fatal(err)
	}
	exchange(t, c, b)
	exchange(t, b, a)
	if pinOf(t, a, "x") != "none" || pinOf(t, b, "x") != "none" {
		t.Errorf("after an unpin %s and %s", pinOf(t, a, "x"), pinOf(t, b, "x"))
	}
}

// An unpin removes the pins that were created before it, and not pins that a node drops or creates itself.
func TestRevocations_AnUnpinReachesWhatWasThereBefore(t *testing.T) {
	now := time.Now()
	a := openNode(t, t.TempDir(), "a", nil)
	b := openNode(t, t.TempDir(), "b", func() time.Time { return time.Now().Add(time.Minute) }) // decides later
	old, made := Pin{AgentID: "old", FirstSeen: now}, Pin{AgentID: "made", FirstSeen: now.Add(2 * replica.MaxAhead)}
	quiet := Pin{AgentID: "quiet", FirstSeen: now}
	replaced := Pin{AgentID: "replaced", CertificateDER: []byte("one"), FirstSeen: now}
	for _, s := range []*Store{a, b} {
		if err := s.ChangePins(PinChange{Put: []Pin{old, made, quiet, replaced}}); err != nil {
			t.Fatal(err)
		}
	}
	lock := TokenLock{Service: "app.example", Tokens: [][16]byte{{1}}, AgentID: "old"}
	sum := [32]byte{1}
	if err := errors.Join(
		a.ChangePins(PinChange{Drop: []string{"old", "made"}, Lock: []TokenLock{lock}}),
		a.ChangePins(PinChange{Drop: []string{"quiet"}, Alone: true}),
		b.ChangePins(PinChange{Put: []Pin{{AgentID: "old", Superseded: sum}}})); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	if pinOf(t, a, "old") != "superseded" || pinOf(t, b, "made") != "pinned" || pinOf(t, b, "quiet") != "pinned" {
		t.Errorf("%s, %s and %s", pinOf(t, a, "old"), pinOf(t, b, "made"), pinOf(t, b, "quiet"))
	}
	if err := a.PutPin(old); err != nil { // with another certificate
		t.Fatal(err)
	}
	if got := pinOf(t, a, "old"); got != "pinned" {
		t.Errorf("with another certificate: %s", got)
	}
	locks, err := b.LoadLocks()
	if err != nil || len(locks) != 1 || locks[0].AgentID != "old" {
		t.Errorf("locks %+v, %v", locks, err)
	}
	// The tokens were changed on b and not on a.
	if err := b.ChangePins(PinChange{Unlock: []string{"app.example"}, Alone: true}); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	if locks, err = a.LoadLocks(); err != nil || len(locks) != 1 {
		t.Errorf("locks %+v, %v", locks, err)
	}
	if err := a.ChangePins(PinChange{Unlock: []string{"app.example"}}); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	if o, _ := b.Object(replica.Key{Kind: KindLock, Name: "app.example"}); !o.Deleted {
		t.Errorf("the lock is %+v", o)
	}
}
