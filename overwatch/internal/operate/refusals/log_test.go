package refusals // inside: it uses namedSources, refusalKinds and refusalsPerHour

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/wire"
)

// refusalsRig is a Log that runs in a bubble.
type refusalsRig struct {
	*Log
	entries chan audit.Change
	stop    func()
}

func newRefusalsRig(t *testing.T) *refusalsRig {
	rig := &refusalsRig{entries: make(chan audit.Change, 10_000)}
	rig.Log = New(func(e audit.QueuedEntry) bool { rig.entries <- e.Change; return true })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- rig.Run(ctx) }()
	synctest.Wait()
	rig.stop = func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	return rig
}

func (r *refusalsRig) say(from netip.Addr, known, stream bool, agent string, c wire.RefusedClaim) {
	r.Note(gossip.Refused{From: from, Known: known, Stream: stream, AgentID: agent, Claim: c})
	synctest.Wait()
}

func (r *refusalsRig) count() (n int) {
	for ; len(r.entries) > 0; n++ {
		<-r.entries
	}
	return n
}

// Repeated refusals of an agent have one entry per hour, and ordinary refusals have no entry.
func TestRefusals_AreInTheAuditLogOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRefusalsRig(t)
		from, backend := netip.MustParseAddr("::ffff:192.0.2.1"), netip.MustParseAddr("192.0.2.7")
		foreign := wire.RefusedClaim{Service: "b.example", Code: wire.CodeWrongToken}
		for range 3 {
			r.say(from, true, false, "a1", foreign)
		}
		if c := <-r.entries; c.ResourceID != "a1" || c.ActorIP != "192.0.2.1" || c.Err == nil ||
			c.Err.Error() != "refused: wrong_token, service b.example" {
			t.Errorf("%+v", c)
		}
		r.say(from, true, false, "a1", wire.RefusedClaim{Service: "a.example", Address: backend, Port: 80,
			Code: wire.CodeConflictingClaim})
		r.say(from, true, false, "a1", wire.RefusedClaim{Service: "a.example", Address: backend, Port: 80,
			Code: wire.CodeNotEnrolled})
		if n := r.count(); n != 2 {
			t.Errorf("%d entries about a backend, want 2", n)
		}
		for _, code := range []wire.RejectCode{wire.CodeBootNonce, wire.CodeNotEnrolled, wire.CodeUnavailable,
			wire.CodeVersion} {
			r.say(from, true, false, "a1", wire.RefusedClaim{Code: code})
		}
		if n := r.count(); n != 0 {
			t.Errorf("%d entries about what is ordinary", n)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		r.say(from, true, false, "a1", foreign)
		if n := r.count(); n != 1 {
			t.Errorf("%d entries in the next hour, want 1", n)
		}
		r.stop()
	})
}

// A client with only the gossip key and any number of addresses does not displace the entries of pinned agents, TCP
// clients or other codes. One entry has the number of omitted refusals.
func TestRefusals_AFloodHidesNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRefusalsRig(t)
		worst := []wire.RejectCode{
			wire.CodeWrongToken, wire.CodeUnknownService, wire.CodeRevoked, wire.CodePinMismatch, wire.CodeConflictingClaim,
			wire.CodePolicy,
			wire.CodeLimit, wire.CodeLocked, wire.CodeNotEnrolled,
		}
		for i := range 200 {
			for _, code := range worst[:3] {
				source := netip.AddrFrom4([4]byte{198, 51, 100, byte(i)})
				r.say(source, false, false, fmt.Sprint("made up ", i), wire.RefusedClaim{Service: "b.example", Code: code})
			}
			r.say(netip.MustParseAddr("203.0.113.9"), false, true, fmt.Sprint("by TCP ", i),
				wire.RefusedClaim{Code: wire.CodeWrongToken})
		}
		if n := r.count(); n != 3*refusalsPerGroup+refusalsPerSource {
			t.Errorf("%d entries of a flood", n)
		}
		real := netip.MustParseAddr("192.0.2.1")
		r.say(real, true, false, "pinned", wire.RefusedClaim{Service: "b.example", Code: wire.CodeWrongToken})
		r.say(real, false, true, "by TCP", wire.RefusedClaim{Service: "b.example", Code: wire.CodeWrongToken})
		r.say(real, false, false, "another code", wire.RefusedClaim{Service: "b.example", Code: wire.CodeLocked})
		if n := r.count(); n != 3 {
			t.Errorf("%d of 3 real ones have an entry", n)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(r.entries) != 1 {
			t.Fatalf("%d entries at the end of the hour, want 1", len(r.entries))
		}
		text := (<-r.entries).Err.Error()
		for _, want := range []string{"wrong_token 380", "unknown_service 184", "revoked 184", "203.0.113.9 196"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q does not say %s", text, want)
			}
		}
		for i := range 1000 {
			for _, code := range worst {
				for kind := range refusalKinds {
					r.say(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), kind == 0, kind == 1, fmt.Sprint("agent ", i),
						wire.RefusedClaim{Code: code, Address: real, Port: 1})
				}
			}
		}
		if n := r.count(); n != refusalsPerHour {
			t.Errorf("%d entries in an hour at the worst, want %d", n, refusalsPerHour)
		}
		if len(r.from) > namedSources || len(r.told) != refusalsPerHour {
			t.Errorf("%d sources and %d refusals are remembered", len(r.from), len(r.told))
		}
		r.stop()
		if r.count() != 1 {
			t.Error("what was left out is not told at the end")
		}
	})
}

// If the queue is full at the end of an hour, the entry of the next hour counts both hours.
func TestEndHour_KeepsTheCountsOfAFullQueue(t *testing.T) {
	isFull, entries := true, []audit.Change(nil)
	r := New(func(e audit.QueuedEntry) bool {
		if !isFull {
			entries = append(entries, e.Change)
		}
		return !isFull
	})
	for hour := range 3 {
		if hour == 1 {
			isFull = false
		}
		if isFull {
			r.Note(gossip.Refused{From: netip.MustParseAddr("192.0.2.1"), AgentID: "a1",
				Claim: wire.RefusedClaim{Code: wire.CodeWrongToken}})
		}
		r.endHour(time.Now())
	}
	if len(entries) != 1 || !strings.Contains(entries[0].Err.Error(), "wrong_token 1") {
		t.Errorf("entries %+v, want one with the count", entries)
	}
}
