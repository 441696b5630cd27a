package gossip // inside: it uses encodeToFit and transport

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// Every answer of a node is sent without fragmentation, whatever its content: an Ack omits list entries that do not
// fit.
func TestAnswer_IsNeverCutIntoFragments(t *testing.T) {
	ack := &wire.Ack{AckedType: wire.TypeEnrol, AckedSeq: 1}
	for i := range wire.MaxServices {
		ack.Services = append(ack.Services, fmt.Sprintf("s%d.%s.example", i, strings.Repeat("a", 60)))
		ack.Refused = append(ack.Refused, wire.RefusedClaim{Service: ack.Services[i], Code: wire.CodeRevoked})
	}
	payload, err := encodeToFit(ack)
	if err != nil {
		t.Fatal(err)
	}
	if len(payload)+identity.Overhead > wire.MaxDatagram || len(ack.Services) == 0 {
		t.Errorf("%d octets, with %d services", len(payload), len(ack.Services))
	}

	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n := startNode(t, func(*Options) {})
	if err := n.transport.send(make([]byte, wire.MaxDatagram), c.LocalAddr().(*net.UDPAddr).AddrPort()); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(patience))
	packet := make([]byte, frame.MaxPacket)
	if size, _, err := c.ReadFromUDPAddrPort(packet); err != nil || size > frame.SafePacket || size < wire.MaxDatagram {
		t.Errorf("a packet of %d octets, want %d at most (%v)", size, frame.SafePacket, err)
	}
}
