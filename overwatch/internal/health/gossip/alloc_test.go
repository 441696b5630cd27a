//go:build !race

package gossip // inside: it uses newScratch

import (
	"net"
	"testing"
	"time"
)

// A holder of the gossip key can ping at the full rate of the network, so the node must allocate nothing for a ping.
//
// Fault 19.
func TestDoor_APingAllocatesNothing(t *testing.T) {
	d := idleTransport(t)
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	from := c.LocalAddr().(*net.UDPAddr).AddrPort()
	raw, on := keyedPacket(t, plainPing), newScratch()
	if allocated := testing.AllocsPerRun(200, func() { d.packet(raw, nil, on, from, time.Now()) }); allocated > 0 {
		t.Errorf("%v allocations for a ping, want none", allocated)
	}
}
