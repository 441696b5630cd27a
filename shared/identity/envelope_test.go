package identity // inside: it uses envelopeMajor, headerSize and newCertificate

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
)

// fixed returns an identity with a constant key, for golden frames.
func fixed() *Identity {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	return &Identity{Certificate: &Certificate{KeyID: KeyIDOf([]byte("fixed")),
		PublicKey: key.Public().(ed25519.PublicKey)}, key: key}
}

func testEnvelope() Envelope {
	return Envelope{Major: 1, Minor: 0, Type: 3, BootNonce: Nonce{1, 2, 3}, Epoch: 1700000000000, Seq: 42,
		SentAtMillis: 1700000000123, Payload: []byte("payload")}
}

func TestSeal_EverythingArrivesAndVerifies(t *testing.T) {
	id := fixed()
	e := testEnvelope()
	s, err := Parse(id.Seal(AgentToNode, e))
	if err != nil {
		t.Fatal(err)
	}
	if s.Major != e.Major || s.Minor != e.Minor || s.Type != e.Type || s.KeyID != id.KeyID || s.BootNonce != e.BootNonce ||
		s.Epoch != e.Epoch || s.Seq != e.Seq || s.SentAtMillis != e.SentAtMillis || !bytes.Equal(s.Payload, e.Payload) {
		t.Errorf("got %+v\nwant %+v", s.Envelope, e)
	}
	if !s.Verify(AgentToNode, id.PublicKey) {
		t.Error("does not verify")
	}
}

func TestVerify_RefusesAnotherDirectionOrKey(t *testing.T) {
	id, other := fixed(), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	s, err := Parse(id.Seal(AgentToNode, testEnvelope()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Verify(NodeToAgent, id.PublicKey) {
		t.Error("verifies in the other direction")
	}
	if s.Verify(AgentToNode, other.Public().(ed25519.PublicKey)) || s.Verify(AgentToNode, nil) {
		t.Error("verifies with another key")
	}
}

func TestVerify_NoOctetCanBeChangedAddedOrLeftOut(t *testing.T) {
	id := fixed()
	message := id.Seal(AgentToNode, testEnvelope())
	for i := range message {
		for bit := range 8 {
			changed := bytes.Clone(message)
			changed[i] ^= 1 << bit
			if s, err := Parse(changed); err == nil && s.Verify(AgentToNode, id.PublicKey) {
				t.Errorf("octet %d, bit %d does not matter", i, bit)
			}
		}
		if s, err := Parse(message[:i]); err == nil && s.Verify(AgentToNode, id.PublicKey) {
			t.Errorf("verifies with %d of %d octets", i, len(message))
		}
	}
	if s, err := Parse(append(bytes.Clone(message), 0)); err == nil && s.Verify(AgentToNode, id.PublicKey) {
		t.Error("verifies with an octet more")
	}
}

func TestParse_RefusesWhatIsNoMessage(t *testing.T) {
	message := fixed().Seal(AgentToNode, testEnvelope())
	for name, b := range map[string][]byte{
		"nothing":       nil,
		"too short":     message[:Overhead-1],
		"another magic": append([]byte("GZ"), message[2:]...),
	} {
		if _, err := Parse(b); !errors.Is(err, ErrEnvelope) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestParse_OfAnotherMajorVersionOnlyTheSenderIsRead(t *testing.T) {
	id := fixed()
	e := testEnvelope()
	e.Major = 2
	s, err := Parse(id.Seal(AgentToNode, e))
	if err != nil {
		t.Fatal(err)
	}
	if s.Major != 2 || s.KeyID != id.KeyID || s.Seq != 0 || s.Payload != nil || s.Verify(AgentToNode, id.PublicKey) {
		t.Errorf("got %+v", s)
	}
}

// The frames of every released version must remain readable. Sealing must produce the frame of the current version.
func TestGolden_EnvelopeStaysAsItIs(t *testing.T) {
	text, err := os.ReadFile("testdata/v1.0/envelope.hex")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "\n")
	want, err := hex.DecodeString(strings.ReplaceAll(body, "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := fixed().Seal(AgentToNode, testEnvelope()); !bytes.Equal(got, want) {
		t.Errorf("sealed as\n%x\nwant\n%x", got, want)
	}
}

func TestProof_StaysAsItIs(t *testing.T) {
	proof := Proof("0123456789abcdef0123456789abcdef", "app.gslb.test", KeyID{1}, Nonce{2}, 3)
	if got, want := hex.EncodeToString(proof[:]),
		"12f00126ae28ce11a2a941927e72a442e785f1a7b8f783f04818c3a21bf9ea38"; got != want {
		t.Errorf("proof %s, want %s", got, want)
	}
	mark := TokenMark("0123456789abcdef0123456789abcdef", "app.gslb.test", KeyID{1})
	if got, want := hex.EncodeToString(mark[:]), "3909ffdf133fe0da123b32add5b61043"; got != want {
		t.Errorf("mark %s, want %s", got, want)
	}
}

func TestProof_IsWorthNothingForAnythingElse(t *testing.T) {
	token, service, key, nonce, epoch := "0123456789abcdef0123456789abcdef", "app.gslb.test", KeyID{1}, Nonce{2}, uint64(3)
	proof := Proof(token, service, key, nonce, epoch)
	for name, other := range map[string][32]byte{
		"another token":       Proof(token+"x", service, key, nonce, epoch),
		"token in capitals":   Proof(strings.ToUpper(token), service, key, nonce, epoch),
		"another service":     Proof(token, "db.gslb.test", key, nonce, epoch),
		"another certificate": Proof(token, service, KeyID{9}, nonce, epoch),
		"another process":     Proof(token, service, key, Nonce{9}, epoch),
		"another epoch":       Proof(token, service, key, nonce, epoch+1),
	} {
		if other == proof {
			t.Errorf("%s has the same proof", name)
		}
	}
	if Proof(token, "App.GSLB.test.", key, nonce, epoch) != proof {
		t.Error("the spelling of the service matters")
	}
	mark := TokenMark(token, service, key)
	if bytes.Equal(mark[:], proof[:16]) || TokenMark(token, service, KeyID{9}) == mark ||
		TokenMark(token+"x", service, key) == mark || TokenMark(token, "db.gslb.test", key) == mark {
		t.Error("marks are not apart from each other and from proofs")
	}
}

func TestNewNonce_IsNeverTheSame(t *testing.T) {
	if first, second := NewNonce(), NewNonce(); first == second || first == (Nonce{}) {
		t.Error("the same nonce twice")
	}
}

func TestWindow_TakesOnlyWhatIsNewer(t *testing.T) {
	var w Window
	for i, c := range []struct {
		epoch, seq uint64
		want       bool
	}{
		{0, 0, false}, {5, 1, true}, {5, 1, false}, {5, 2, true}, {5, 9, true}, {5, 8, false}, {4, 100, false},
		{6, 1, true}, {5, 10, false}, {6, 0, false}, {6, 1, false}, {1<<64 - 1, 1<<64 - 1, true},
		{1<<64 - 1, 1<<64 - 1, false},
	} {
		if newer := w.Newer(c.epoch, c.seq); newer != c.want {
			t.Errorf("%d: (%d, %d) newer: %v", i, c.epoch, c.seq, newer)
		}
		if got := w.Accept(c.epoch, c.seq); got != c.want {
			t.Errorf("%d: (%d, %d) accepted: %v", i, c.epoch, c.seq, got)
		}
	}
	if w.Epoch() != 1<<64-1 {
		t.Errorf("epoch %d", w.Epoch())
	}
}

func FuzzParse(f *testing.F) {
	id := fixed()
	f.Add(id.Seal(AgentToNode, testEnvelope()))
	f.Add(id.Seal(NodeToAgent, Envelope{Major: 2}))
	f.Add([]byte{})
	agent, node := exchangeOf(f, 3), exchangeOf(f, 4)
	p := testPairing(agent, node)
	session := agree(f, agent, p)
	f.Add(session.Seal(AgentToNode, testEnvelope()))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err != nil {
			return
		}
		if s.InSession() && (s.Verify(AgentToNode, id.PublicKey) ||
			s.Authentic(AgentToNode, session) != bytes.Equal(session.Seal(AgentToNode, s.Envelope), b)) {
			t.Error("of a session, but not what was sealed in it")
		}
		if s.Verify(AgentToNode, id.PublicKey) && !bytes.Equal(id.Seal(AgentToNode, s.Envelope), b) {
			t.Error("verifies, but is not what was sealed")
		}
		if s.Major == envelopeMajor && len(s.Payload) != len(b)-headerSize-len(s.signature)-len(s.code) {
			t.Errorf("payload of %d octets in %d", len(s.Payload), len(b))
		}
	})
}

func FuzzParseCertificate(f *testing.F) {
	der, _, err := newCertificate("eu-web-1", noon)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(der)
	f.Fuzz(func(t *testing.T, der []byte) {
		c, err := ParseCertificate(der)
		if err != nil {
			return
		}
		if ValidateID(c.CommonName) != nil || c.KeyID != KeyIDOf(der) || len(c.PublicKey) != ed25519.PublicKeySize ||
			!c.NotBefore.Before(c.NotAfter) {
			t.Errorf("accepted %+v", c)
		}
	})
}
