package wire // inside: it shares wire_test.go

import (
	"net/netip"
	"testing"

	"gslb.internal/shared/identity"
)

// usual returns a typical heartbeat of an agent with n backends of a service.
func usual(n int) *Heartbeat {
	h := &Heartbeat{Region: "eu-west", Version: "1.0.0", UptimeSeconds: 864000, IntervalMillis: 10000, MissedThreshold: 3,
		Figures: Figures{CPUPercent: 1250, MemoryPercent: 4075, ChecksTotal: 518400}}
	for i := range n {
		h.Backends = append(h.Backends, Backend{
			Service: "app.gslb.example.com", Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), Port: 8080, Weight: 100,
			Claim:                ClaimHealthy,
			ConsecutiveSuccesses: 1000, LatencyMicros: 1234,
			Check: Check{Type: "http", Path: "/healthz", TimeoutMillis: 2000, IntervalMillis: 5000, FailureThreshold: 3,
				SuccessThreshold: 2},
		})
	}
	return h
}

func TestHeartbeat_SeveralBackendsFitOneDatagram(t *testing.T) {
	if sealed := len(encode(t, usual(3))) + identity.Overhead; sealed > 400 {
		t.Errorf("3 backends take %d octets, sealed", sealed)
	}
	n := 1
	for len(encode(t, usual(n+1)))+identity.Overhead <= MaxDatagram {
		n++
	}
	if n < 14 {
		t.Errorf("only %d backends fit a datagram", n)
	}
	t.Logf("%d backends fit a datagram", n)
}

func TestHeartbeat_DecodingTakesFewAllocations(t *testing.T) {
	b := encode(t, usual(3))
	var h Heartbeat
	allocations := testing.AllocsPerRun(100, func() {
		if err := h.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 6 { // the decoder, region, version, and once for all three: service, check type, path
		t.Errorf("%v allocations", allocations)
	}
}

func BenchmarkHeartbeat_Decode3(b *testing.B) {
	frame := encode(b, usual(3))
	var h Heartbeat
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if err := h.UnmarshalBinary(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHeartbeat_Encode3(b *testing.B) {
	h := usual(3)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.MarshalBinary(); err != nil {
			b.Fatal(err)
		}
	}
}
