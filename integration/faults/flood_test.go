package faults_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/integration/harness/attack"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The volume of the flood on the gossip port, over TCP and UDP each, and the permitted effects.
const (
	floodSize    = 24 << 20        // bytes
	floodTime    = 3 * time.Second // over which they are spread, so that there is something to measure
	floodBound   = 30 * time.Second
	floodMemory  = 64 << 20               // bytes that the node may grow by, of a crowd on DNS
	gossipMemory = 32 << 20               // the same, of what comes to the gossip port
	floodP99     = 100 * time.Millisecond // of DNS answers meanwhile; the client shares the machine with flood and node
)

// Random data on the gossip port, over TCP and UDP, is dropped and counted, without an effect on DNS, agents and
// memory.
//
// Fault 18: Packets without the gossip key flood the gossip port. No lookup fails, memory is bounded, and the drops
// are counted.
// Fault 19: Idle and large connections occupy the gossip port. Agents still reach the node, and memory is bounded.
func TestFlood_GarbageOnTheGossipPortDisturbsNobody(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	before := testbed.Memory(t, n.PID())

	began := time.Now()
	for _, network := range []string{"tcp", "udp"} {
		sent, conns := flood(t, network, n.Gossip)
		t.Logf("%s: %d MiB in %d connections or packets after %s", network, sent>>20, conns,
			time.Since(began).Round(time.Millisecond))
	}
	idle := idleStreams(t, n.Gossip, 2000)

	for i, b := range s.Backends {
		s.Status(t, n, b, 5*time.Second, func(v api.Backend) error {
			if v.AgentLastSeen == nil || time.Since(*v.AgentLastSeen) > 2*s.Timing.Heartbeat {
				return errors.New(s.Agents[i].Name + " is not heard")
			}
			return testbed.WantStatus(v, api.EffectiveHealthy, true)
		})
	}
	grown := testbed.Memory(t, n.PID()) - before
	t.Logf("memory grew by %d KiB, %d idle connections were refused or open", grown>>10, idle)
	if grown > gossipMemory {
		t.Errorf("memory grew by %d MiB, allowed are %d", grown>>20, gossipMemory>>20)
	}
	steady(t, s, n, began, floodP99)
	var reasons []string
	for _, reason := range []string{"size", "label", "cipher", "key", "malformed", "incomplete"} {
		reasons = append(reasons, `gslb_gossip_dropped_total{reason="`+reason+`"}`)
	}
	testbed.Counts(t, n, "what it drops", reasons...)
}

// flood sends random bytes until it has sent floodSize, in connections or packets of random length. Half of them start
// like a gslb frame. It returns the number of bytes and the number of connections or packets.
func flood(t *testing.T, network string, to netip.AddrPort) (sent int64, conns int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), floodBound)
	defer cancel()
	random := rand.NewChaCha8([32]byte{1})
	var packets net.Conn
	begin := time.Now()
	for ; sent < floodSize && ctx.Err() == nil; conns++ {
		ahead := time.Duration(float64(floodTime)*float64(sent)/floodSize) - time.Since(begin)
		if ahead > testbed.Pace {
			testbed.Pause(ctx, ahead) // so that there is something to measure
		}
		size := 1 + rand.IntN(1400)
		if network == "tcp" {
			size = 1 + rand.IntN(256<<10)
		}
		garbage := make([]byte, size)
		random.Read(garbage)
		if conns%2 == 0 {
			copy(garbage, "\xf4\x06gslb/1\x01")
		}
		if packets == nil {
			c, err := attack.Stranger(network, conns).DialContext(ctx, network, to.String())
			if err != nil {
				continue // refused at the limit, which is a way of dropping
			}
			packets = c
		}
		packets.SetWriteDeadline(time.Now().Add(time.Second))
		written, err := packets.Write(garbage)
		sent += int64(written)
		if network == "tcp" || err != nil {
			packets.Close()
			packets = nil
		}
	}
	if packets != nil {
		packets.Close()
	}
	if sent < floodSize && network == "udp" {
		t.Errorf("%s: only %d bytes could be sent within %s", network, sent, floodBound)
	}
	return sent, conns
}

// idleStreams opens connections without data, which stay open until the end of the test. It returns the number of
// accepted connections.
func idleStreams(t *testing.T, to netip.AddrPort, count int) int {
	t.Helper()
	var open atomic.Int32
	for i := range count {
		c, err := attack.Stranger("tcp", i).DialContext(t.Context(), "tcp", to.String())
		if err != nil {
			continue
		}
		open.Add(1)
		t.Cleanup(func() { c.Close() })
	}
	return int(open.Load())
}
