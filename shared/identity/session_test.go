package identity // inside: it uses headerSize, macMagic and magic

import (
	"bytes"
	"crypto/ecdh"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// exchangeOf returns an Exchange with a constant key, for golden frames.
func exchangeOf(t testing.TB, fill byte) *Exchange {
	t.Helper()
	key, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{fill}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return &Exchange{key: key, share: Share(key.PublicKey().Bytes())}
}

func testPairing(agent, node *Exchange) Pairing {
	e := testEnvelope()
	return Pairing{Agent: KeyID{1}, Node: KeyID{2}, Boot: e.BootNonce, Epoch: e.Epoch, AgentShare: agent.Share(),
		NodeShare: node.Share()}
}

func agree(t testing.TB, x *Exchange, p Pairing) *Session {
	t.Helper()
	s, err := x.Agree(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parsed(t testing.TB, b []byte) *Sealed {
	t.Helper()
	s, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func TestSession_EverythingArrivesAtTheOtherSideInEitherDirection(t *testing.T) {
	agent, node := NewExchange(), NewExchange()
	p, e := testPairing(agent, node), testEnvelope()
	one, other := agree(t, agent, p), agree(t, node, p)
	for _, c := range []struct {
		dir      Direction
		from, to *Session
		sender   KeyID
	}{{AgentToNode, one, other, p.Agent}, {NodeToAgent, other, one, p.Node}} {
		s := parsed(t, c.from.Seal(c.dir, e))
		if s.KeyID != c.sender || s.BootNonce != e.BootNonce || s.Epoch != e.Epoch || s.Seq != e.Seq ||
			s.SentAtMillis != e.SentAtMillis ||
			s.Type != e.Type || !bytes.Equal(s.Payload, e.Payload) || !s.InSession() || !s.Authentic(c.dir, c.to) {
			t.Errorf("got %+v\nwant %+v", s.Envelope, e)
		}
		if s.Authentic(AgentToNode+NodeToAgent-c.dir, c.to) || s.Authentic(c.dir, nil) {
			t.Error("authentic in the other direction, or by no session")
		}
	}
}

// Sessions with any difference between the two sides, and sessions with third parties, have other keys.
func TestSession_IsForExactlyTheseTwoProcesses(t *testing.T) {
	agent, node, third := NewExchange(), NewExchange(), NewExchange()
	p := testPairing(agent, node)
	here := agree(t, node, p)
	for name, change := range map[string]func(*Pairing){
		"another agent":          func(p *Pairing) { p.Agent[31]++ },
		"another node":           func(p *Pairing) { p.Node[31]++ },
		"another node process":   func(p *Pairing) { p.Boot[15]++ },
		"another agent process":  func(p *Pairing) { p.Epoch++ },
		"another share of nodes": func(p *Pairing) { p.NodeShare = third.Share() },
	} {
		other := p
		change(&other)
		b := agree(t, agent, other).Seal(AgentToNode, testEnvelope())
		if parsed(t, b).Authentic(AgentToNode, here) {
			t.Errorf("%s: believed", name)
		}
		// The same message with the head of the correct session, so that only the key differs.
		head := agree(t, agent, p).Seal(AgentToNode, testEnvelope())
		copy(b, head[:headerSize])
		if bytes.Equal(b, head) || parsed(t, b).Authentic(AgentToNode, here) {
			t.Errorf("%s with another head: believed", name)
		}
	}
	// A third process that claims the share of the agent cannot derive the key.
	stolen := p
	stolen.AgentShare = third.Share()
	if parsed(t, agree(t, third, stolen).Seal(AgentToNode, testEnvelope())).Authentic(AgentToNode, here) {
		t.Error("a stranger is believed")
	}
}

func TestSession_NoOctetCanBeChangedAddedOrLeftOut(t *testing.T) {
	agent, node := NewExchange(), NewExchange()
	p := testPairing(agent, node)
	here, message := agree(t, node, p), agree(t, agent, p).Seal(AgentToNode, testEnvelope())
	for i := range message {
		for bit := range 8 {
			changed := bytes.Clone(message)
			changed[i] ^= 1 << bit
			if s, err := Parse(changed); err == nil && s.Authentic(AgentToNode, here) {
				t.Errorf("octet %d, bit %d does not matter", i, bit)
			}
		}
		if s, err := Parse(message[:i]); err == nil && s.Authentic(AgentToNode, here) {
			t.Errorf("authentic with %d of %d octets", i, len(message))
		}
	}
	if s, err := Parse(append(bytes.Clone(message), 0)); err == nil && s.Authentic(AgentToNode, here) {
		t.Error("authentic with an octet more")
	}
}

// A code is never valid as a signature, and a signature never as a code, even with changed first two octets.
func TestSession_CodesAndSignaturesAreNotMistakenForEachOther(t *testing.T) {
	agent, node, id := NewExchange(), NewExchange(), fixed()
	p := testPairing(agent, node)
	p.Agent = id.KeyID
	here := agree(t, node, p)
	coded, signed := agree(t, agent, p).Seal(AgentToNode, testEnvelope()), id.Seal(AgentToNode, testEnvelope())
	for _, b := range [][]byte{coded, append([]byte(magic), coded[2:]...)} {
		if s, err := Parse(b); err == nil && s.Verify(AgentToNode, id.PublicKey) {
			t.Error("a code passes for a signature")
		}
	}
	for _, b := range [][]byte{signed, append([]byte(macMagic), signed[2:]...)} {
		if s, err := Parse(b); err == nil && s.Authentic(AgentToNode, here) {
			t.Error("a signature passes for a code")
		}
	}
}

func TestAgree_RefusesSharesOfNobody(t *testing.T) {
	x, other := NewExchange(), NewExchange()
	p := testPairing(x, other)
	lowOrder, err := hex.DecodeString("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Pairing){
		"none":                 func(p *Pairing) { p.NodeShare = Share{} },
		"one":                  func(p *Pairing) { p.NodeShare = Share{1} },
		"low order":            func(p *Pairing) { p.NodeShare = Share(lowOrder) },
		"its own twice":        func(p *Pairing) { p.NodeShare = x.Share() },
		"neither is this one":  func(p *Pairing) { p.AgentShare = NewExchange().Share() },
		"none, the other side": func(p *Pairing) { p.AgentShare, p.NodeShare = Share{}, x.Share() },
	} {
		bad := p
		change(&bad)
		if s, err := x.Agree(bad); err == nil || s != nil {
			t.Errorf("%s: agreed", name)
		}
	}
	if x.Share() == other.Share() {
		t.Error("two processes have one share")
	}
}

// The frames of every released version must remain valid. Sealing must produce the frame of the current version.
func TestGolden_SessionStaysAsItIs(t *testing.T) {
	text, err := os.ReadFile("testdata/v1.1/session.hex")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "\n")
	agent, node := exchangeOf(t, 3), exchangeOf(t, 4)
	e := testEnvelope()
	e.Minor = 1
	got := hex.EncodeToString(agree(t, agent, testPairing(agent, node)).Seal(AgentToNode, e))
	if want := strings.ReplaceAll(body, "\n", ""); got != want {
		t.Errorf("sealed as\n%s\nwant\n%s", got, want)
	}
}

func BenchmarkSession(b *testing.B) {
	agent, node := NewExchange(), NewExchange()
	p, e := testPairing(agent, node), testEnvelope()
	e.Payload = make([]byte, 400)
	one, other := agree(b, agent, p), agree(b, node, p)
	message := one.Seal(AgentToNode, e)
	b.Run("seal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			one.Seal(AgentToNode, e)
		}
	})
	b.Run("authentic", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !parsed(b, message).Authentic(AgentToNode, other) {
				b.Fatal("refused")
			}
		}
	})
	b.Run("agree", func(b *testing.B) {
		for b.Loop() {
			agree(b, node, p)
		}
	})
}
