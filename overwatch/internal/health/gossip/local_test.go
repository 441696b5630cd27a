package gossip // inside: it shares agent_test.go

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"gslb.internal/shared/frame"
)

// plainPing is a ping to whatever node, decrypted.
var plainPing = []byte("\x00\x84\xa5SeqNo\x01\xa4Node\xa0\xaaSourceAddr\xa4\x00\x00\x00\x00\xaaSourceNode\xa5agent")

func TestNode_AnswersFromTheAddressItWasReachedAt(t *testing.T) {
	for _, try := range []struct{ bind, reach string }{
		{"0.0.0.0:0", "127.0.0.5"},
		{"0.0.0.0:0", "127.0.0.1"},
		{"[::]:0", "127.0.0.5"},
		{"[::]:0", "::1"},
	} {
		if c, err := net.ListenPacket("udp", "[::1]:0"); err != nil && try.bind[0] == '[' {
			continue // no IPv6 here
		} else if err == nil {
			c.Close()
		}
		n := startNode(t, func(o *Options) { o.Bind = try.bind })
		c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(try.reach),
			n.Addr().Port())))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write(keyedPacket(t, plainPing)); err != nil {
			t.Fatal(err)
		}
		c.SetReadDeadline(time.Now().Add(patience))
		if got, err := c.Read(make([]byte, frame.MaxPacket)); err != nil || got < frame.MinPacket {
			t.Errorf("bound to %s, reached at %s: no answer from there: %v", try.bind, try.reach, err)
		}
	}
}
