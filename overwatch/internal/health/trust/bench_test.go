package trust // inside: it shares rig_test.go

import (
	"net/netip"
	"testing"

	"gslb.internal/shared/wire"
)

// BenchmarkOpen_Heartbeat measures a signed heartbeat of about 250 octets from a pinned agent. The check of the
// signature takes most of the time.
func BenchmarkOpen_Heartbeat(b *testing.B) {
	r := newRig(b)
	a := r.agent("eu-web-1")
	a.enrol("app.test", "db.test")
	payload := make([]byte, 250)
	messages := make([][]byte, 4096)
	b.ReportAllocs()
	n := len(messages)
	for b.Loop() {
		if n == len(messages) {
			b.StopTimer()
			for i := range messages {
				messages[i] = a.seal(3, payload)
			}
			n = 0
			b.StartTimer()
		}
		if _, refusal := r.trust.Open(messages[n], netip.MustParseAddr("192.0.2.1")); refusal != nil {
			b.Fatal(refusal)
		}
		n++
	}
}

// BenchmarkOpen_HeartbeatInSession measures the same heartbeat with the code of a session, as in most cases.
func BenchmarkOpen_HeartbeatInSession(b *testing.B) {
	r := newRig(b)
	p := r.agent("eu-web-1").inSession("app.test", "db.test")
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		raw := p.code(wire.TypeHeartbeat)
		b.StartTimer()
		if _, refusal := r.trust.Open(raw, netip.MustParseAddr("192.0.2.1")); refusal != nil {
			b.Fatal(refusal)
		}
	}
}

// BenchmarkOpen_Replay measures the refusal of a recorded message, for which no signature is checked.
func BenchmarkOpen_Replay(b *testing.B) {
	r := newRig(b)
	a := r.agent("eu-web-1")
	a.enrol("app.test")
	raw := a.beat()
	r.taken(raw)
	b.ReportAllocs()
	for b.Loop() {
		r.trust.Open(raw, netip.MustParseAddr("192.0.2.1"))
	}
}

// BenchmarkOpen_Enrol measures the enrolment of a known agent after a restart of the node, which stores nothing.
func BenchmarkOpen_Enrol(b *testing.B) {
	r := newRig(b)
	a := r.agent("eu-web-1")
	a.enrol("app.test", "db.test")
	messages := make([][]byte, 1024)
	b.ReportAllocs()
	n := len(messages)
	for b.Loop() {
		if n == len(messages) {
			b.StopTimer()
			for i := range messages {
				messages[i] = a.enrolment("app.test", "db.test")
			}
			n = 0
			b.StartTimer()
		}
		if _, refusal := r.trust.Open(messages[n], netip.MustParseAddr("192.0.2.1")); refusal != nil {
			b.Fatal(refusal)
		}
		n++
	}
}
