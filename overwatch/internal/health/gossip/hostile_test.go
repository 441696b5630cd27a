package gossip // inside: it uses connections, maxStreams and transport

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"testing"
	"time"

	"gslb.internal/shared/wire"
)

// memoryAllowance is the maximum growth of the heap during a flood, in octets.
const memoryAllowance = 32 << 20

// encrypt seals plain text like memberlist, with any version as the first octet.
func encrypt(t testing.TB, version byte, plain, authenticated []byte) []byte {
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
	return aead.Seal(append([]byte{version}, nonce...), nonce, plain, authenticated)
}

func labelled(b []byte) []byte {
	return append(append([]byte{244, byte(len(wire.Label))}, wire.Label...), b...)
}

func keyedPacket(t testing.TB, plain []byte) []byte {
	return labelled(encrypt(t, 1, plain, []byte(wire.Label)))
}

func keyedStream(t testing.TB, plain []byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte{10}, uint32(len(plain)+29))
	return labelled(append(head, encrypt(t, 1, plain, append(bytes.Clone(head), wire.Label...))...))
}

// malformed contains plain texts that a holder of the key can send.
var malformed = map[string][]byte{
	"empty":                 {},
	"type only":             {0},
	"unknown type":          {200, 1, 2, 3},
	"compressed":            append([]byte{9}, bytes.Repeat([]byte{0x82}, 60)...),
	"nested arrays":         append([]byte{0}, bytes.Repeat([]byte{0x91}, 1200)...),
	"nested maps":           append([]byte{0}, bytes.Repeat([]byte{0x81, 0xa1, 'a'}, 400)...),
	"announced text":        {0, 0x81, 0xdb, 0xff, 0xff, 0xff, 0xff},
	"announced array":       {0, 0xdd, 0xff, 0xff, 0xff, 0xff},
	"compound of nothing":   {7, 255},
	"compound cut off":      {7, 2, 0, 9, 0, 9, 1},
	"compounds nested":      bytes.Repeat([]byte{7, 1, 0, 100}, 30),
	"checksum only":         {12, 0, 0, 0, 0},
	"short checksum":        {12, 0},
	"a million nodes":       append([]byte{6}, "\x83\xa5Nodes\xce\x00\x0f\xff\xff\xacUserStateLen\x00\xa4Join\xc3"...),
	"20 MiB of state":       append([]byte{6}, "\x83\xa5Nodes\x00\xacUserStateLen\xce\x01\x40\x00\x00\xa4Join\xc3"...),
	"20 MiB user message":   append([]byte{8}, "\x81\xaaUserMsgLen\xce\x01\x40\x00\x00"...),
	"negative user message": append([]byte{8}, "\x81\xaaUserMsgLen\xff"...),
	"indirect ping": append([]byte{1},
		"\x85\xa5SeqNo\x01\xa6Target\xa4\x7f\x00\x00\x01\xa4Port\x09\xa4Node\xa1x\xa4Nack\xc3"...),
	"odd address": append([]byte{4},
		"\x85\xabIncarnation\x01\xa4Node\xa1x\xa4Addr\xa3abc\xa4Port\x01\xa3Vsn\xa6\x01\x05\x02\x00\x00\x00"...),
	"no versions":           append([]byte{4}, "\x84\xabIncarnation\x01\xa4Node\xa1x\xa4Addr\xa4abcd\xa4Port\x01"...),
	"unsealed user message": append([]byte{8}, "hello"...),
	"empty user message":    {8},
}

// Fault 19.
// Fault 20.
func TestDoor_MalformedFromAHolderOfTheKeyHarmsNobody(t *testing.T) {
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	udp, err := net.Dial("udp", n.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	for name, plain := range malformed {
		if _, err := udp.Write(keyedPacket(t, plain)); err != nil {
			t.Fatal(name, err)
		}
		udp.Write(labelled(encrypt(t, 0, plain, []byte(wire.Label))))
		tcp, err := net.Dial("tcp", n.Addr().String())
		if err != nil {
			t.Fatal(name, err)
		}
		tcp.Write(keyedStream(t, plain))
		tcp.SetReadDeadline(time.Now().Add(patience))
		if b, err := io.ReadAll(tcp); len(b) != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: answered with %d octets, %v", name, len(b), err)
		}
		tcp.Close()
	}
	eventually(t, "everything is counted", func() bool { return n.dropped(t) == float64(3*len(malformed)) })
	a.datagram(a.heartbeat())
	a.ack()
}

// Fault 19.
func TestDoor_GarbageLeavesMemoryFlatAndAgentsServed(t *testing.T) {
	total := 100 << 20
	if testing.Short() {
		total = 8 << 20
	}
	n := startNode(t, nil)
	a := newTestAgent(t, "a1", gossipKey, n.Addr())
	a.enrol()
	peak := watchHeap(t)

	random := make([]byte, 1400)
	rand.Read(random)
	kinds := [][]byte{random, labelled(random[:1300]), labelled(append([]byte{1}, random[:1300]...)), make([]byte, 9000),
		{}}
	udp, err := net.Dial("udp", n.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	served := 0
	for sent, i := 0, 0; sent < total; i++ {
		b := kinds[i%len(kinds)]
		udp.Write(b)
		sent += len(b)
		if i%2000 == 0 && answered(a) {
			served++
		}
	}
	if served == 0 {
		t.Error("no heartbeat was acknowledged during the UDP flood")
	}
	streams := [][]byte{random, labelled(random), labelled([]byte{10, 0, 0, 0xff, 0xff, 1}),
		labelled([]byte{10, 0xff, 0xff, 0xff, 0xff, 1}), []byte("GET / HTTP/1.1\r\n\r\n")}
	block := make([]byte, 256<<10)
	for sent, i := 0, 0; sent < total; i++ {
		tcp, err := net.Dial("tcp", n.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		tcp.SetWriteDeadline(time.Now().Add(time.Second))
		k, _ := tcp.Write(append(bytes.Clone(streams[i%len(streams)]), block...))
		sent += max(k, 4096) // the node hangs up early
		tcp.Close()
	}
	eventually(t, "a heartbeat is acknowledged after the TCP flood", func() bool { return answered(a) })
	if grown := peak(); grown > memoryAllowance {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}

// answered sends a heartbeat and reports whether the node acknowledges it in time.
func answered(a *testAgent) bool {
	a.datagram(a.heartbeat())
	select {
	case <-a.answers:
		return true
	case <-time.After(2 * time.Second):
		return false
	}
}

// watchHeap records the heap in use after each garbage collection until the returned function is called. The function
// returns the maximum growth. Garbage does not count, because its amount depends on the load of the machine.
func watchHeap(t testing.TB) (grown func() int64) {
	t.Helper()
	runtime.GC()
	before, peak := heapInUse(), int64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			peak = max(peak, heapInUse())
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	}()
	return func() int64 {
		runtime.GC()
		close(stop)
		<-done
		return max(peak, heapInUse()) - before
	}
}

// heapInUse returns the octets in use after the last garbage collection.
func heapInUse() int64 {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// Fault 19.
func TestDoor_IdleAndLargeAnnouncingConnectionsDoNotKeepAgentsOut(t *testing.T) {
	for _, try := range []struct {
		name string
		say  []byte
	}{
		{"idle", nil},
		{"announcing 64 KiB", labelled([]byte{10, 0, 1, 0, 0, 1, 'x'})},
	} {
		t.Run(try.name, func(t *testing.T) {
			n := startNode(t, nil)
			peak := watchHeap(t)
			for i := range 2000 {
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(i%60), byte(2+i/60%4))}}
				c, err := dialer.Dial("tcp", n.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				c.Write(try.say)
			}
			if open := n.transport.connections.count(); open > maxStreams {
				t.Errorf("%d streams open", open)
			}
			// One agent has an address all of whose connections are occupied by idle connections. Another agent has another
			// address.
			for _, source := range []net.IP{net.IPv4(127, 0, 0, 2), net.IPv4(127, 0, 200, 1)} {
				a := newTestAgent(t, fmt.Sprintf("a-%d", source[14]), gossipKey, n.Addr())
				a.source = source
				eventually(t, "Hello gets through", func() bool { return a.greet() == nil })
				a.datagram(a.enrolment())
				a.ack()
			}
			if grown := peak(); grown > memoryAllowance {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
		})
	}
}
