package gossip // inside: it uses newScratch, self and transport

import (
	"bytes"
	"net"
	"testing"
	"time"

	"gslb.internal/shared/frame"
)

// idleTransport returns a transport without a reader: its packets for memberlist stay in the channel.
func idleTransport(t *testing.T) *transport {
	t.Helper()
	n, err := New(testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.transport.shut)
	return n.transport
}

// Fault 19.
func TestDoor_AnswersAnAgentsPingItself(t *testing.T) {
	d := idleTransport(t)
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	from := c.LocalAddr().(*net.UDPAddr).AddrPort()
	for _, try := range []struct {
		name     string
		plain    []byte
		answered bool
	}{
		{"to whoever gets it", []byte("\x00\x82\xa5SeqNo\xcd\x12\x34\xa4Node\xa0"), true},
		{"to this node", []byte("\x00\x82\xa5SeqNo\xcd\x12\x34\xa4Node\xa4ow-1"), true},
		{"to another node", []byte("\x00\x82\xa5SeqNo\xcd\x12\x34\xa4Node\xa4ow-2"), false},
		{"from a node that listens",
			[]byte("\x00\x84\xa5SeqNo\xcd\x12\x34\xa4Node\xa0\xaaSourceAddr\xa4\x7f\x00\x00\x01\xaaSourcePort\xcd\x1f\x0a"),
			false},
	} {
		if fault := d.packet(keyedPacket(t, try.plain), nil, newScratch(), from, time.Now()); fault != frame.None {
			t.Fatalf("%s: %s", try.name, fault)
		}
		if passed := len(d.packets); passed == 1 == try.answered {
			t.Errorf("%s: %d packets passed to memberlist", try.name, passed)
		}
		if !try.answered {
			<-d.packets
			continue
		}
		raw := make([]byte, frame.MaxPacket)
		c.SetReadDeadline(time.Now().Add(patience))
		n, err := c.Read(raw)
		if err != nil {
			t.Fatalf("%s: %v", try.name, err)
		}
		plain, fault := d.keyring.OpenPacket(nil, raw[:n])
		p, parsed := frame.ParsePacket(plain)
		if fault != frame.None || parsed != frame.None || p.Kinds != frame.Of(frame.Ack) ||
			!bytes.Equal(p.AckPayload, d.self.boot[:]) {
			t.Errorf("%s: answered with %x, %s, %s", try.name, plain, fault, parsed)
		}
		if !bytes.Contains(plain, []byte{0x12, 0x34}) {
			t.Errorf("%s: the answer is to another ping: %x", try.name, plain)
		}
	}
}
