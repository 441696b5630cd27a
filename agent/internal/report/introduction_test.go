package report // inside: it uses startFaked

import (
	"encoding"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/wire"
)

// introducing makes the node acknowledge heartbeats with introductions, and records the rejected nodes in them.
func (n *fakeNode) introducing(seen *[]wire.NodeCertificate, introduced ...wire.NodeCertificate) {
	n.set(func(n *fakeNode) {
		n.decide = func(r received) encoding.BinaryMarshaler {
			ack := r.ack()
			if r.kind() == wire.TypeHeartbeat {
				var m wire.Heartbeat
				if err := m.UnmarshalBinary(r.sealed.Payload); err == nil {
					*seen = m.Rejected
				}
				ack.Introduced = introduced
			}
			return ack
		}
	})
}

// A newly created node has another certificate. The agent reports the node in its heartbeats to the other nodes, and
// replaces the pin only after one of them has introduced exactly this certificate of exactly this node.
func TestReporter_ANewCertificateNeedsAnIntroduction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wiped, other := newFakeNode(t), newFakeNode(t)
		other.greetAs = "ow-2"
		r, logs, stop := startFaked(t, map[string]*fakeNode{"a:1": wiped, "b:1": other}, "a:1", "b:1")
		defer stop()
		after(15 * time.Second)
		wiped.set(func(n *fakeNode) { n.id = testIdentity(t, "ow-1") })
		wiped.restart()
		var seen []wire.NodeCertificate
		shown := wire.NodeCertificate{NodeID: "ow-1", KeyID: wiped.id.KeyID}
		another := wire.NodeCertificate{NodeID: "ow-1", KeyID: testIdentity(t, "ow-1").KeyID}
		renamed := wire.NodeCertificate{NodeID: "ow-3", KeyID: wiped.id.KeyID}
		own := wire.NodeCertificate{NodeID: "ow-2", KeyID: wiped.id.KeyID}
		other.introducing(&seen, another, renamed, own)
		begun := time.Now()
		after(time.Minute)
		if len(seen) != 1 || seen[0] != shown {
			t.Errorf("the heartbeats name %v, want %v", seen, shown)
		}
		if n := len(wiped.got(wire.TypeEnrol, begun)); n != 0 {
			t.Fatalf("%d enrolments without an introduction", n)
		}
		other.introducing(&seen, shown)
		after(12 * time.Second)
		if s := r.Nodes()[0]; !s.Connected || s.LastError != "" {
			t.Errorf("after the introduction: %+v", s)
		}
		if text := logs.String(); !strings.Contains(text, `"introduced_by":"ow-2"`) {
			t.Errorf("log: %s", text)
		}
		pin, err := os.ReadFile(filepath.Join(r.pins.dir, "a:1"))
		if err != nil || !strings.Contains(string(pin), wiped.id.KeyID.Fingerprint()) {
			t.Errorf("pin %q, %v", pin, err)
		}
		after(20 * time.Second)
		if len(seen) != 0 {
			t.Errorf("the heartbeats still name %v", seen)
		}
	})
}

// Another node at a known address is not introduced, even if it is genuine: the address leads to the wrong node. A
// restart of the agent does not change that.
func TestReporter_AnotherNodeAtTheAddressIsNotNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moved, other, dir := newFakeNode(t), newFakeNode(t), t.TempDir()
		other.greetAs = "ow-2"
		start := func() func() {
			_, _, stop := startFakedIn(t, dir, map[string]*fakeNode{"a:1": moved, "b:1": other}, "a:1", "b:1")
			return stop
		}
		stop := start()
		after(15 * time.Second)
		moved.set(func(n *fakeNode) { n.id, n.greetAs = testIdentity(t, "ow-3"), "ow-3" })
		moved.restart()
		seen := []wire.NodeCertificate{{}} // replaced by the first heartbeat
		other.introducing(&seen)
		after(time.Minute)
		if len(seen) != 0 {
			t.Errorf("the heartbeats name %v", seen)
		}
		stop()
		seen = []wire.NodeCertificate{{}}
		defer start()()
		after(time.Minute)
		if len(seen) != 0 {
			t.Errorf("after a restart, the heartbeats name %v", seen)
		}
	})
}
