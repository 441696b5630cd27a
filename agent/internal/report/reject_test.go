package report // inside: it uses maxPause, openHello and status

import (
	"encoding"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

func TestLink_RejectedEnrolmentIsToldOnceAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.decide = func(r received) encoding.BinaryMarshaler { return r.reject(wire.CodeWrongToken) }
		l := startLink(t, n)
		defer l.stop()
		after(10 * time.Minute)
		text := l.logs.String()
		if strings.Count(text, "another token for this service") != 1 || !strings.Contains(text, testService) ||
			!strings.Contains(text, "because") {
			t.Errorf("log: %s", text)
		}
		tries := len(n.got(wire.TypeEnrol, time.Time{}))
		if tries < 40 || tries > 60 {
			t.Errorf("%d enrolments in 10 minutes", tries)
		}
		if got := l.count(t, "gslb_agent_rejects_total", "wrong_token"); got != float64(tries) {
			t.Errorf("%v rejects counted, %d came", got, tries)
		}
		s := l.status.read()
		if s.Connected || len(s.Rejects) != 1 || s.Rejects[0] != (Rejection{Code: wire.CodeWrongToken, Service: testService,
			Detail: "because"}) {
			t.Errorf("state %+v", s)
		}
		if len(n.got(wire.TypeHeartbeat, time.Time{})) != 0 {
			t.Error("heartbeats were sent")
		}
		n.set(func(n *fakeNode) { n.decide = nil })
		after(16 * time.Second)
		if s := l.status.read(); !s.Connected || len(s.Rejects) != 0 {
			t.Errorf("after the token was corrected: %+v", s)
		}
	})
}

func TestLink_RevocationStopsReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		n.set(func(n *fakeNode) {
			n.decide = func(r received) encoding.BinaryMarshaler { return r.reject(wire.CodeRevoked) }
		})
		after(15 * time.Second)
		revoked := time.Now()
		l.queueChange(testBackend())
		after(2 * time.Minute)
		if len(n.got(wire.TypeHeartbeat, revoked)) != 0 || len(n.got(wire.TypeTransition, revoked)) != 0 {
			t.Error("a revoked agent goes on reporting")
		}
		if s := l.status.read(); s.Connected || len(s.Rejects) != 1 || s.Rejects[0].Code != wire.CodeRevoked {
			t.Errorf("state %+v", s)
		}
		if text := l.logs.String(); strings.Count(text, "revoked this agent") != 1 {
			t.Errorf("log: %s", text)
		}
	})
}

func TestLink_RejectAboutAnotherCertificateChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		n.set(func(n *fakeNode) { n.silent = true })
		after(6 * time.Second) // so that a heartbeat awaits its answer
		beats := n.got(wire.TypeHeartbeat, time.Time{})
		beat := beats[len(beats)-1]
		stranger := testIdentity(t, "a1") // the same name, another key
		for _, code := range []wire.RejectCode{wire.CodePinMismatch, wire.CodeRevoked, wire.CodeNotEnrolled,
			wire.CodeBootNonce} {
			reject := beat.reject(code)
			reject.AckedKey = stranger.KeyID
			l.queueAnswer(n.seal(reject, 77))
		}
		hellos := n.greeted()
		after(time.Second)
		if s := l.status.read(); !s.Connected || len(s.Rejects) != 0 || n.greeted() != hellos {
			t.Errorf("state %+v, %d more Hellos", s, n.greeted()-hellos)
		}
		l.queueAnswer(n.seal(beat.reject(wire.CodeRevoked), 77))
		after(10 * time.Millisecond)
		if s := l.status.read(); s.Connected {
			t.Error("its own rejection is not believed")
		}
	})
}

func TestLink_RefusedClaimIsToldOnceAndShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		b := testBackend()
		n.decide = func(r received) encoding.BinaryMarshaler {
			if r.kind() != wire.TypeHeartbeat {
				return r.ack()
			}
			return r.ack(wire.RefusedClaim{Service: b.Service, Address: b.Address, Port: b.Port,
				Code: wire.CodeConflictingClaim})
		}
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Minute)
		s := l.status.read()
		if !s.Connected || len(s.Rejects) != 1 || s.Rejects[0].Backend != "192.0.2.10:8080" {
			t.Errorf("state %+v", s)
		}
		if text := l.logs.String(); strings.Count(text, "another agent that is alive claims this backend") != 1 {
			t.Errorf("log: %s", text)
		}
		var conflict func(received) encoding.BinaryMarshaler
		n.set(func(n *fakeNode) { conflict, n.decide = n.decide, nil })
		after(15 * time.Second)
		if s := l.status.read(); len(s.Rejects) != 0 {
			t.Errorf("after the conflict: %+v", s)
		}
		n.set(func(n *fakeNode) { n.decide = conflict })
		after(time.Minute)
		if text := l.logs.String(); strings.Count(text, "another agent that is alive claims this backend") != 2 {
			t.Errorf("a second conflict, after all was well, is not told once: %s", text)
		}
	})
}

func TestLink_ServicesThatWereNotGrantedAreAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.decide = func(r received) encoding.BinaryMarshaler {
			if r.kind() == wire.TypeEnrol {
				return r.ack(wire.RefusedClaim{Service: "other.example.com", Code: wire.CodeUnknownService})
			}
			return r.ack()
		}
		l := startLink(t, n)
		defer l.stop()
		after(61 * time.Second)
		if got := len(n.got(wire.TypeEnrol, time.Time{})); got < 4 || got > 6 {
			t.Errorf("%d enrolments in a minute", got)
		}
		if got := len(n.got(wire.TypeHeartbeat, time.Time{})); got < 6 || got > 8 {
			t.Errorf("%d heartbeats in a minute", got)
		}
		if s := l.status.read(); len(s.Rejects) != 1 || s.Rejects[0].Service != "other.example.com" {
			t.Errorf("state %+v", s)
		}
		if text := l.logs.String(); strings.Count(text, "no token for this service") != 1 {
			t.Errorf("log: %s", text)
		}
	})
}

// This happens when the node activates another token for one of the services.
func TestLink_AServiceThatTheNodeTookAwayIsProvedAgain(t *testing.T) {
	for _, kind := range []wire.Type{wire.TypeHeartbeat, wire.TypeTransition} {
		synctest.Test(t, func(t *testing.T) {
			n := newFakeNode(t)
			l := startLink(t, n)
			defer l.stop()
			after(5 * time.Second)
			b, proved := testBackend(), false // under the node's lock
			n.set(func(n *fakeNode) {
				n.decide = func(r received) encoding.BinaryMarshaler {
					proved = proved || r.kind() == wire.TypeEnrol
					if proved || r.kind() != kind {
						return r.ack()
					}
					return r.ack(wire.RefusedClaim{Service: b.Service, Address: b.Address, Port: b.Port,
						Code: wire.CodeNotEnrolled})
				}
			})
			begun := time.Now()
			l.queueChange(b)
			after(16 * time.Second)
			enrols := n.got(wire.TypeEnrol, begun)
			if len(enrols) != 1 {
				t.Fatalf("%d enrolments after a %s was refused", len(enrols), kind)
			}
			beats := n.got(wire.TypeHeartbeat, enrols[0].at)
			if len(beats) == 0 || beats[0].at.Sub(enrols[0].at) > time.Second {
				t.Errorf("no heartbeat at once after the enrolment, %d later", len(beats))
			}
			if s := l.status.read(); !s.Connected || len(s.Rejects) != 0 {
				t.Errorf("state %+v", s)
			}
		})
	}
}

func TestLink_AnotherNodeCertificateIsRefusedUntilThePinIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		pin := filepath.Join(l.options.DataDir, "overwatch_pins", l.address)
		if _, err := os.Stat(pin); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		n.set(func(n *fakeNode) { n.id, n.nonce = testIdentity(t, "ow-1"), identity.NewNonce() })
		after(time.Minute)
		s := l.status.read()
		if s.Connected || !strings.Contains(s.LastError, pin) || len(n.got(wire.TypeEnrol, before)) != 0 {
			t.Errorf("state %+v, %d enrolments", s, len(n.got(wire.TypeEnrol, before)))
		}
		if l.count(t, "gslb_agent_overwatch_contact_failures_total", "certificate") == 0 {
			t.Error("not counted")
		}
		if err := os.Remove(pin); err != nil {
			t.Fatal(err)
		}
		after(maxPause + time.Second)
		if s := l.status.read(); !s.Connected {
			t.Errorf("after the pin was deleted: %+v", s)
		}
	})
}

func TestLink_AnswersFromOthersAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		n.silent = true
		l := startLink(t, n)
		defer l.stop()
		after(time.Second)
		enrol := n.got(wire.TypeEnrol, time.Time{})[0]
		stranger := &fakeNode{id: testIdentity(t, "ow-1"), nonce: n.nonce}
		tampered := n.seal(enrol.ack(), 77)
		tampered[80] ^= 1
		other := &fakeNode{id: n.id, nonce: identity.NewNonce()}
		for name, forged := range map[string][]byte{
			"another node":         stranger.seal(enrol.ack(), 77),
			"for another process":  n.seal(enrol.ack(), 78),
			"from another process": other.seal(enrol.ack(), 77),
			"tampered":             tampered,
			"sealed by an agent": n.id.Seal(identity.AgentToNode,
				identity.Envelope{Major: 1, Type: uint8(wire.TypeAck), BootNonce: n.nonce, Epoch: 77}),
			"for an earlier enrolment": n.seal(&wire.Ack{AckedType: wire.TypeEnrol, AckedSeq: 0}, 77),
			"garbage":                  make([]byte, 200),
			"empty":                    nil,
		} {
			l.queueAnswer(forged)
			after(50 * time.Millisecond)
			if l.status.read().Connected {
				t.Fatalf("%s: believed", name)
			}
		}
		l.queueAnswer(n.seal(enrol.ack(), 77))
		after(50 * time.Millisecond)
		if !l.status.read().Connected {
			t.Error("the node's own answer is not believed")
		}
	})
}

func TestLink_ForgedSignsOfARestartCostOneHelloPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		l := startLink(t, n)
		defer l.stop()
		after(5 * time.Second)
		begun, hellos := time.Now(), n.greeted()
		for range 6000 {
			forged := identity.NewNonce()
			n.set(func(n *fakeNode) { n.seen = &forged })
			l.queueAnswer(n.seal(&wire.Reject{AckedType: wire.TypeHeartbeat, AckedSeq: 1, AckedKey: l.options.Identity.KeyID,
				Code: wire.CodeBootNonce}, 77))
			after(10 * time.Millisecond)
		}
		if got := n.greeted() - hellos; got > 61 {
			t.Errorf("%d Hellos in a minute", got)
		}
		if got := n.got(wire.TypeEnrol, begun); len(got) != 0 || !l.status.read().Connected {
			t.Errorf("%d enrolments, state %+v", len(got), l.status.read())
		}
	})
}

func TestOpenHello_RefusesWhatTheNodeDidNotSeal(t *testing.T) {
	n := newFakeNode(t)
	for name, change := range map[string]func(identity.Envelope) identity.Envelope{
		"another version": func(e identity.Envelope) identity.Envelope { e.Major = 2; return e },
		"another type":    func(e identity.Envelope) identity.Envelope { e.Type = uint8(wire.TypeAck); return e },
		"another nonce":   func(e identity.Envelope) identity.Envelope { e.BootNonce[0]++; return e },
		"no payload":      func(e identity.Envelope) identity.Envelope { e.Payload = nil; return e },
		"another's certificate": func(e identity.Envelope) identity.Envelope {
			e.Payload, _ = (&wire.Hello{NodeID: "x", BootNonce: n.nonce, Certificate: testIdentity(t, "x").DER}).MarshalBinary()
			return e
		},
		"no certificate": func(e identity.Envelope) identity.Envelope {
			e.Payload, _ = (&wire.Hello{NodeID: "x", BootNonce: n.nonce, Certificate: []byte("x")}).MarshalBinary()
			return e
		},
	} {
		n.greeting = change
		if _, _, err := openHello(n.greet()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	n.greeting = nil
	if node, hello, err := openHello(n.greet()); err != nil || node.KeyID != n.id.KeyID || hello.BootNonce != n.nonce {
		t.Errorf("%+v, %v", hello, err)
	}
	if _, _, err := openHello([]byte("x")); err == nil {
		t.Error("garbage accepted")
	}
}

// The log and the status contain the rule by which a node rejects a backend.
func TestLink_RefusedBackendIsLoggedWithItsRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNode(t)
		b := testBackend()
		n.decide = func(r received) encoding.BinaryMarshaler {
			if r.kind() != wire.TypeHeartbeat {
				return r.ack()
			}
			return r.ack(wire.RefusedClaim{Service: b.Service, Address: b.Address, Port: b.Port, Code: wire.CodePolicy,
				Rule: wire.RuleNetworks})
		}
		l := startLink(t, n)
		defer l.stop()
		after(time.Minute)
		const rule = "the address is outside overwatch.agent_policies." + testService + ".allowed_cidrs"
		if text := l.logs.String(); strings.Count(text, rule) != 1 || strings.Contains(text, "loopback") {
			t.Errorf("log: %s", text)
		}
		if s := l.status.read(); len(s.Rejects) != 1 || !strings.Contains(s.Rejects[0].String(), rule) {
			t.Errorf("state %+v", s)
		}
	})
}
