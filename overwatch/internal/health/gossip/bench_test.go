package gossip // inside: it uses newScratch and transport

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/wire"
)

// BenchmarkNode_HeartbeatsThroughTheWholeIntake measures the path of a heartbeat: packet, decryption, queue, signature,
// registry, sealed Ack, socket. The heartbeats of 200 agents contain one backend each.
func BenchmarkNode_HeartbeatsThroughTheWholeIntake(b *testing.B) {
	const agents, rounds = 200, 5
	n := startNode(b, nil)
	sink, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer sink.Close()
	var senders []*testAgent
	for i := range agents {
		a := newTestAgent(b, fmt.Sprint("a", i), gossipKey, n.Addr())
		a.enrol()
		a.close()
		senders = append(senders, a)
	}
	scratch := newScratch()
	source := sink.LocalAddr().(*net.UDPAddr).AddrPort()
	b.ResetTimer()
	handled := 0
	for b.Loop() {
		b.StopTimer()
		var packets [][]byte
		for range rounds {
			for _, a := range senders {
				packets = append(packets, keyedPacket(b, append([]byte{byte(frame.User)}, a.heartbeat()...)))
			}
		}
		b.StartTimer()
		for _, p := range packets {
			if fault := n.transport.packet(p, nil, scratch, source, time.Now()); fault != frame.None {
				b.Fatal(fault)
			}
		}
		for range packets {
			n.registry.next(b)
		}
		handled += len(packets)
	}
	b.ReportMetric(float64(handled)/b.Elapsed().Seconds(), "heartbeats/s")
}

// BenchmarkNode_TransitionToRegistry measures the time from the start of an agent's transition on a stream until the
// call of the registry.
func BenchmarkNode_TransitionToRegistry(b *testing.B) {
	n := startNode(b, nil)
	a := newTestAgent(b, "a1", gossipKey, n.Addr())
	a.enrol()
	var took []time.Duration
	for b.Loop() {
		message := a.seal(wire.TypeTransition, &wire.Transition{Backend: testBackend()})
		begun := time.Now()
		if err := a.stream(message); err != nil {
			b.Fatal(err)
		}
		took = append(took, n.registry.next(b).at.Sub(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}

// BenchmarkDoor_Garbage measures the cost of a packet from a sender without the key.
func BenchmarkDoor_Garbage(b *testing.B) {
	n := startNode(b, nil)
	scratch, source := newScratch(), netip.MustParseAddrPort("192.0.2.1:1")
	for name, raw := range map[string][]byte{"no label": make([]byte, 1400),
		"label": labelled(append([]byte{1}, make([]byte, 1390)...))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n.transport.packet(raw, nil, scratch, source, time.Now())
			}
		})
	}
}

// BenchmarkNode_Ping measures the cost of the answer to one ping, including the read of the answer by the test.
func BenchmarkNode_Ping(b *testing.B) {
	n := startNode(b, nil)
	sink, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer sink.Close()
	name := frame.AgentName([32]byte{1}, 1)
	plain := append(
		[]byte("\x00\x84\xa5SeqNo\xce\x00\x01\x02\x03\xa4Node\xa0\xaaSourceAddr\xa4\x00\x00\x00\x00\xaaSourceNode\xda\x00"),
		byte(len(name)))
	raw, scratch := keyedPacket(b, append(plain, name...)), newScratch()
	source, answer := sink.LocalAddr().(*net.UDPAddr).AddrPort(), make([]byte, 2048)
	b.ReportAllocs()
	for b.Loop() {
		if fault := n.transport.packet(raw, nil, scratch, source, time.Now()); fault != frame.None {
			b.Fatal(fault)
		}
		sink.Read(answer)
	}
}
