package gossip // inside: it uses newScratch

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"gslb.internal/shared/frame"
)

// FuzzNode_WhatDecryptsToNonsense sends any plain text that was encrypted with the correct key to a running node with a
// real memberlist. It finds inputs that end the process.
func FuzzNode_WhatDecryptsToNonsense(f *testing.F) {
	for _, plain := range malformed {
		f.Add(plain)
	}
	f.Add([]byte("\x00\x82\xa5SeqNo\x01\xa4Node\xa0"))
	f.Add([]byte("\x02\x82\xa5SeqNo\x01\xa7Payload\xa1x"))
	f.Add([]byte("\x06\x83\xa5Nodes\x00\xacUserStateLen\x00\xa4Join\xc3"))
	f.Add([]byte(
		"\x04\x86\xabIncarnation\x01\xa4Node\xa1x\xa4Addr\xa4\x7f\x00\x00\x01" +
			"\xa4Port\x01\xa4Meta\xc0\xa3Vsn\xa6\x01\x05\x02\x00\x00\x00"))
	n := startNode(f, func(o *Options) { o.Seeds = []string{"127.0.0.1:1"} })
	from := netip.MustParseAddrPort("127.0.0.1:9")
	f.Fuzz(func(t *testing.T, plain []byte) {
		n.transport.packet(keyedPacket(t, plain), nil, newScratch(), from, time.Now())
		if len(plain) == 0 || len(plain) > frame.MaxStream-29 {
			return
		}
		c, err := net.Dial("tcp", n.Addr().String())
		if err != nil {
			t.Skip(err) // out of ephemeral ports
		}
		defer c.Close()
		c.Write(keyedStream(t, plain))
		c.SetReadDeadline(time.Now().Add(patience))
		io.Copy(io.Discard, c)
	})
}
