package dnstap // inside: it awaits the connection

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"google.golang.org/protobuf/encoding/protowire"
)

// patience is the time limit of a test for a peer. Only a hang reaches it.
const patience = 30 * time.Second

// running is a Tap with its registry.
type running struct {
	*Tap
	registry *prometheus.Registry
	log      *bytes.Buffer // read it only after stop
	stop     func()        // ends Run and waits for it
}

func start(t *testing.T, address string) *running {
	t.Helper()
	registry, log := prometheus.NewRegistry(), &bytes.Buffer{}
	tap, err := New(Options{Address: address, Identity: "ns1", Version: "gslb 1", Registerer: registry,
		Logger: zerolog.New(log)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- tap.Run(ctx) }()
	r := &running{tap, registry, log, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})}
	t.Cleanup(r.stop)
	return r
}

// await waits until the Tap is connected, or not connected.
func (r *running) await(t *testing.T, connected bool) {
	t.Helper()
	for began := time.Now(); r.connected.Load() != connected; runtime.Gosched() {
		if time.Since(began) > patience {
			t.Fatalf("connected is not %t", connected)
		}
	}
}

// counts returns the values of the metrics by name and reason.
func (r *running) counts(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "gslb_dnstap_")
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return all
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// The frames of the handshake, as the specification of Frame Streams defines them.
const (
	typed  = "\x00\x00\x00\x01\x00\x00\x00\x16protobuf:dnstap.Dnstap"
	ready  = "\x00\x00\x00\x00\x00\x00\x00\x22\x00\x00\x00\x04" + typed
	accept = "\x00\x00\x00\x00\x00\x00\x00\x22\x00\x00\x00\x01" + typed
	begin  = "\x00\x00\x00\x00\x00\x00\x00\x22\x00\x00\x00\x02" + typed
	stop   = "\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x03"
	final  = "\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x05"
)

// consume accepts a connection and performs the handshake.
func consume(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	expect(t, conn, ready)
	if _, err := conn.Write([]byte(accept)); err != nil {
		t.Fatal(err)
	}
	expect(t, conn, begin)
	return conn
}

// expect reads octets and compares them.
func expect(t *testing.T, from io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
		t.Fatalf("%q, %v, want %q", got, err, want)
	}
}

// readFrame returns the data of the next frame.
func readFrame(t *testing.T, from io.Reader) []byte {
	t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(from, data); err != nil {
		t.Fatal(err)
	}
	return data
}

// fields returns the fields of a protobuf message by number, with octets as string and numbers as uint64.
func fields(t *testing.T, data []byte) map[protowire.Number]any {
	t.Helper()
	all := map[protowire.Number]any{}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			t.Fatalf("%x: %v", data, protowire.ParseError(n))
		}
		data = data[n:]
		switch kind {
		case protowire.VarintType:
			all[number], n = consumed(protowire.ConsumeVarint(data))
		case protowire.Fixed32Type:
			value, size := protowire.ConsumeFixed32(data)
			all[number], n = uint64(value), size
		case protowire.BytesType:
			value, size := protowire.ConsumeBytes(data)
			all[number], n = string(value), size
		default:
			t.Fatalf("field %d has type %d", number, kind)
		}
		if n < 0 {
			t.Fatalf("field %d: %v", number, protowire.ParseError(n))
		}
		data = data[n:]
	}
	return all
}

func consumed(value uint64, n int) (any, int) { return value, n }

// example returns a query with its response.
func example() *Message {
	return &Message{
		Query: []byte("query"), Response: []byte(strings.Repeat("response", 50)),
		Client: netip.MustParseAddrPort("192.0.2.1:5353"), Server: netip.MustParseAddrPort("198.51.100.1:53"),
		Received: time.Unix(1_800_000_000, 123), Sent: time.Unix(1_800_000_001, 456), Extra: []byte("decision=1-2-3"),
	}
}

func TestTap_SendsAllFieldsOfQueryAndResponse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tap.sock")
	for _, l := range []net.Listener{listen(t, "unix", path), listen(t, "tcp", "127.0.0.1:0")} {
		address := l.Addr().String()
		if l.Addr().Network() == "unix" {
			address = "unix:" + address
		}
		r := start(t, address)
		w := r.NewWorker()
		conn := consume(t, l)
		r.await(t, true)
		four, six := example(), example()
		w.Record(four)
		six.Client, six.Server = netip.MustParseAddrPort("[2001:db8::1]:1"), netip.MustParseAddrPort("[::]:53")
		six.TCP, six.Response, six.Extra = true, nil, nil
		w.Record(six)
		common := func(kind uint64) map[protowire.Number]any {
			return map[protowire.Number]any{
				1: kind, 2: uint64(1), 3: uint64(1), 4: "\xc0\x00\x02\x01", 5: "\xc6\x33\x64\x01", 6: uint64(5353),
				7: uint64(53), 8: uint64(1_800_000_000), 9: uint64(123),
			}
		}
		query, response := common(1), common(2)
		query[10] = "query"
		response[12], response[13], response[14] = uint64(1_800_000_001), uint64(456), string(four.Response)
		last := map[protowire.Number]any{1: uint64(1), 2: uint64(2), 3: uint64(2),
			4: "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01", 6: uint64(1), 7: uint64(53),
			8: uint64(1_800_000_000), 9: uint64(123), 10: "query"}
		for i, want := range []map[protowire.Number]any{query, response, last} {
			outer := fields(t, readFrame(t, conn))
			if outer[1] != "ns1" || outer[2] != "gslb 1" || outer[15] != uint64(1) || (outer[3] == "decision=1-2-3") != (i < 2) {
				t.Errorf("%q", outer)
			}
			inner := fields(t, []byte(outer[14].(string)))
			for number, value := range want {
				if inner[number] != value {
					t.Errorf("message %d, field %d: %v, want %v", i, number, inner[number], value)
				}
			}
			if len(inner) != len(want) {
				t.Errorf("message %d has fields %v, want %v", i, inner, want)
			}
		}
		// At the stop, the Tap sends the messages of the buffer and awaits the end of the stream.
		w.Record(six)
		go r.stop()
		readFrame(t, conn)
		expect(t, conn, stop)
		if _, err := conn.Write([]byte(final)); err != nil {
			t.Error(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
		r.await(t, false)
		if got := r.counts(t); got["messages_sent_total"] != 4 || got["connected"] != 0 {
			t.Errorf("%v", got)
		}
	}
}

// A consumer that reads nothing delays no answer: the messages that exceed the buffer are dropped and counted.
func TestTap_NeverWaitsForAStalledConsumer(t *testing.T) {
	l := listen(t, "unix", filepath.Join(t.TempDir(), "tap.sock"))
	r := start(t, "unix:"+l.Addr().String())
	w := r.NewWorker()
	conn := consume(t, l)
	r.await(t, true)
	m := example()
	m.Response = make([]byte, 60_000)
	for range 1000 { // 60 MB, more than the buffers of socket and worker
		w.Record(m)
	}
	if got := r.counts(t)["messages_dropped_total buffer_full"]; got == 0 || got > 2000 {
		t.Errorf("%v messages were dropped", got)
	}
	_ = conn.Close()
	r.await(t, false)
	r.stop()
	got := r.counts(t)
	sum := 0.0
	for name, count := range got {
		if name != "connected" {
			sum += count
		}
	}
	if sum != 2000 || got["messages_dropped_total connection_lost"] == 0 {
		t.Errorf("%v", got)
	}
}

// The Tap reconnects to a consumer that was restarted, and counts the messages without a connection.
func TestTap_ReconnectsAfterTheConsumerEnds(t *testing.T) {
	l := listen(t, "tcp", "127.0.0.1:0")
	r := start(t, l.Addr().String())
	w := r.NewWorker()
	w.Record(example())
	conn := consume(t, l)
	r.await(t, true)
	_ = conn.Close()
	r.await(t, false)
	w.Record(example())
	conn = consume(t, l)
	r.await(t, true)
	w.Record(example())
	if outer := fields(t, readFrame(t, conn)); outer[1] != "ns1" {
		t.Errorf("%q", outer)
	}
	if got := r.counts(t)["messages_dropped_total unconnected"]; got < 2 || got > 4 {
		t.Errorf("%v messages had no connection", got)
	}
	r.stop()
	if !strings.Contains(r.log.String(), "messages are dropped") {
		t.Error(r.log.String())
	}
}

func TestHandshake_RejectsOtherPeers(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n": "dnstap consumer",
		final:                          "control frame 5",
		"\x00\x00\x00\x00\x00\x00\x00\x0f\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x03abc": `["abc"]`,
		"\x00\x00\x00\x00\xff\xff\xff\xff": "dnstap consumer",
	} {
		near, far := net.Pipe()
		go func() {
			_, _ = io.ReadFull(far, make([]byte, len(ready)))
			_, _ = far.Write([]byte(answer))
			_ = far.Close()
		}()
		if err := handshake(near); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", answer, err, want)
		}
	}
}

func TestRecord_AllocatesNothing(t *testing.T) {
	tap, err := New(Options{Address: "unix:/x", Identity: strings.Repeat("i", MaxIdentity),
		Version: strings.Repeat("v", MaxIdentity), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	tap.connected.Store(true)
	w, m := tap.NewWorker(), example()
	m.Client, m.Server = netip.MustParseAddrPort("[2001:db8::1]:65535"), netip.MustParseAddrPort("[2001:db8::1]:65535")
	m.Response, m.Extra = make([]byte, 65_535), bytes.Repeat([]byte("e"), MaxExtra)
	if n := testing.AllocsPerRun(100, func() {
		w.Record(m)
		first, second := w.buffer.pending()
		w.buffer.release(len(first) + len(second))
	}); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
	if w.overflowed.Load() > 0 {
		t.Error("messages were dropped")
	}
	var none *Worker
	none.Record(m)
}

func FuzzReadControl(f *testing.F) {
	for _, frame := range []string{accept, ready, stop, final, "", "\x00\x00\x00\x00\xff\xff\xff\xff"} {
		f.Add([]byte(frame))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		control, types, err := readControl(bytes.NewReader(data))
		if err != nil {
			return
		}
		size := 0
		for _, one := range types {
			size += len(one)
		}
		if size > maxControl || uint64(control) != uint64(binary.BigEndian.Uint32(data[8:])) {
			t.Errorf("type %d with %d octets of content types", control, size)
		}
	})
}

// The benchmark records a query and its response, and empties the buffer.
func BenchmarkRecord(b *testing.B) {
	tap, err := New(Options{Address: "unix:/x", Identity: "ns1", Version: "gslb 1", Registerer: prometheus.NewRegistry()})
	if err != nil {
		b.Fatal(err)
	}
	tap.connected.Store(true)
	w, m := tap.NewWorker(), example()
	b.ReportAllocs()
	for b.Loop() {
		w.Record(m)
		first, second := w.buffer.pending()
		w.buffer.release(len(first) + len(second))
	}
}
