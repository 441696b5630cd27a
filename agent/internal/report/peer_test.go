package report // inside: it uses contactError, reasonHello and reasonKey

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// startPeer creates a peer for the node at address.
func startPeer(t testing.TB, address string, key []byte) (p *memberPeer, dropped *atomic.Int64) {
	t.Helper()
	dropped = new(atomic.Int64)
	p, err := newMemberPeer(address, "agent", [][]byte{key}, func([]byte) {}, func(frame.Fault) { dropped.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p, dropped
}

func TestPeer_HelloPingAndMessagesReachTheNode(t *testing.T) {
	n := startNode(t, gossipKey)
	_, port, _ := net.SplitHostPort(n.addr)
	for _, address := range []string{n.addr, "localhost:" + port} {
		p, _ := startPeer(t, address, gossipKey)
		if err := p.datagram([]byte("x")); !errors.Is(err, errNoAddress) {
			t.Errorf("before the Hello: %v", err)
		}
		greeting, err := p.hello(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, hello, err := openHello(greeting); err != nil || hello.BootNonce != n.nonce {
			t.Errorf("%+v, %v", hello, err)
		}
		eventually(t, "a ping is answered", func() bool {
			rtt, err := p.ping()
			return err == nil && rtt > 0
		})
		if nonce, ok := p.boot(); !ok || nonce != n.nonce {
			t.Errorf("boot nonce %x, %v", nonce, ok)
		}
		before := n.count(wire.TypeHeartbeat)
		message := testIdentity(t, "a1").Seal(identity.AgentToNode,
			identity.Envelope{Major: 1, Type: uint8(wire.TypeHeartbeat)})
		if err := errors.Join(p.datagram(message), p.stream(message)); err != nil {
			t.Error(err)
		}
		eventually(t, "both messages have come", func() bool { return n.count(wire.TypeHeartbeat) == before+2 })
	}
}

func TestPeer_TroubleIsNamed(t *testing.T) {
	n := startNode(t, bytes.Repeat([]byte{8}, frame.KeySize))
	serve := func(answer string) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				c.Read(make([]byte, 4096))
				io.WriteString(c, answer)
				c.Close()
			}
		}()
		return ln.Addr().String()
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, try := range []struct {
		name, address string
		reason        reason
		words         string
	}{
		{"another key, memberlist answers", n.addr, reasonKey, "another gossip key"},
		{"closes without a word", serve(""), reasonKey, "encryption_key differs from ours"},
		{"web server", serve("HTTP/1.1 400 Bad Request\r\n\r\n"), reasonHello, "not from gslb"},
		{"nobody there", closed.Addr().String(), reasonUnreachable, "connection refused"},
		{"no such name", "no-such-host.invalid:7946", reasonResolve, "no-such-host.invalid"},
		{"no such port name", "127.0.0.1:nonsense", reasonResolve, "nonsense"},
	} {
		p, _ := startPeer(t, try.address, gossipKey)
		_, err := p.hello(t.Context())
		var why *contactError
		if !errors.As(err, &why) || why.reason != try.reason || !strings.Contains(err.Error(), try.words) {
			t.Errorf("%s: %v", try.name, err)
		}
	}
}

func TestInOrder_KeepsThePreferredFamilyAndFixesTheRest(t *testing.T) {
	addrs := func(texts ...string) (out []netip.Addr) {
		for _, text := range texts {
			out = append(out, netip.MustParseAddr(text))
		}
		return out
	}
	for _, try := range []struct{ given, want []netip.Addr }{
		{addrs("192.0.2.2", "192.0.2.1"), addrs("192.0.2.1", "192.0.2.2")},
		{addrs("2001:db8::2", "192.0.2.2", "2001:db8::1", "192.0.2.1"),
			addrs("2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2")},
		{addrs("192.0.2.2", "2001:db8::1"), addrs("192.0.2.2", "2001:db8::1")},
		{nil, nil},
	} {
		got := sortByFamily(try.given, 7946)
		for i, want := range try.want {
			if got[i] != netip.AddrPortFrom(want, 7946) {
				t.Errorf("%v: %v", try.given, got)
				break
			}
		}
	}
}

// keyed encrypts plain text as memberlist does.
func keyed(t testing.TB, plain, authenticated []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(gossipKey)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := make([]byte, 12)
	return aead.Seal(append([]byte{1}, nonce...), nonce, plain, authenticated)
}

func keyedPacket(t testing.TB, plain []byte) []byte {
	b := append([]byte{244, byte(len(wire.Label))}, wire.Label...)
	return append(b, keyed(t, plain, []byte(wire.Label))...)
}

func TestPeer_MalformedPacketsFromAHolderOfTheKeyAreDropped(t *testing.T) {
	n := startNode(t, gossipKey)
	p, dropped := startPeer(t, n.addr, gossipKey)
	if _, err := p.hello(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(p.transport.udp.LocalAddr().String())
	c, err := net.Dial("udp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all := [][]byte{
		{}, {0}, {2}, {9, 1, 2, 3}, append([]byte{2}, bytes.Repeat([]byte{0x91}, 1200)...), {7, 255}, {12, 0, 0, 0, 0},
		[]byte("\x00\x82\xa5SeqNo\x01\xa4Node\xa0"), // a ping: nobody pings an agent
		[]byte("\x01\x82\xa5SeqNo\x01\xa4Node\xa0"), // nor asks it to relay
	}
	for _, plain := range all {
		c.Write(keyedPacket(t, plain))
	}
	eventually(t, "all are dropped", func() bool { return dropped.Load() == int64(len(all)) })
	eventually(t, "a ping is answered", func() bool {
		_, err := p.ping()
		return err == nil
	})
}

// evil starts a server that answers a push/pull with plain text that is encrypted with the correct key. It returns the
// address.
func evil(t testing.TB, plain []byte) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.Read(make([]byte, 4096))
		head := binary.BigEndian.AppendUint32([]byte{10}, uint32(len(plain)+29))
		c.Write(append(head, keyed(t, plain, append(bytes.Clone(head), wire.Label...))...))
	}()
	return ln.Addr().String()
}

func TestPeer_MalformedRepliesFromAHolderOfTheKeyAreRefused(t *testing.T) {
	for name, plain := range map[string][]byte{
		"empty":           {},
		"user message":    []byte("\x08\x81\xaaUserMsgLen\x01x"),
		"a million nodes": append([]byte{6}, "\x83\xa5Nodes\xce\x00\x0f\xff\xff\xacUserStateLen\x00\xa4Join\xc3"...),
		"20 MiB of state": append([]byte{6}, "\x83\xa5Nodes\x00\xacUserStateLen\xce\x01\x40\x00\x00\xa4Join\xc3"...),
		"no user state":   append([]byte{6}, "\x83\xa5Nodes\x00\xacUserStateLen\x00\xa4Join\xc3"...),
	} {
		p, _ := startPeer(t, evil(t, plain), gossipKey)
		_, err := p.hello(t.Context())
		var why *contactError
		if !errors.As(err, &why) || why.reason != reasonHello {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPeer_CloseEndsWhatIsUnderWay(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			accepted <- c // and never answers
		}
	}()
	for try := 1; ; try++ { // without close it would take streamTime, each time
		p, _ := startPeer(t, ln.Addr().String(), gossipKey)
		ended := make(chan error, 1)
		go func() {
			_, err := p.hello(t.Context())
			ended <- err
		}()
		c := <-accepted
		closed := time.Now()
		p.close()
		err := <-ended
		c.Close()
		if err == nil {
			t.Fatal("Hello succeeded")
		}
		took := time.Since(closed)
		if took < streamTime/2 {
			return
		}
		if try == 5 {
			t.Fatalf("Hello went on for %s after close", took)
		}
	}
}

// FuzzPeer_WhatDecryptsToNonsense passes arbitrary plain text, in packets encrypted with the correct key, to a running
// memberlist behind its transport.
func FuzzPeer_WhatDecryptsToNonsense(f *testing.F) {
	for _, plain := range []string{
		"", "\x02", "\x02\x82\xa5SeqNo\x01\xa7Payload\xa1x", "\x03\x83\xabIncarnation\x01\xa4Node\xa5agent\xa4From\xa1x",
		"\x07\x01\x00\x0d\x02\x81\xa5SeqNo\x01", "\x08hello",
	} {
		f.Add([]byte(plain))
	}
	p, _ := startPeer(f, "127.0.0.1:9", gossipKey)
	target := p.transport.udp.LocalAddr().(*net.UDPAddr).AddrPort()
	p.transport.target.Store(&target)
	f.Fuzz(func(t *testing.T, plain []byte) {
		p.transport.packet(keyedPacket(t, plain), make([]byte, 0, frame.MaxPacket), target)
	})
}
