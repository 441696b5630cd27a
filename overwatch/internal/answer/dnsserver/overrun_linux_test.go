package dnsserver // inside: it uses backlog and memoryDrops

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"gslb.internal/overwatch/internal/answer/zone"
)

// Queries wait in a socket without a reader. The id of a query is its number. If the buffer is almost full, the server
// discards the outdated queries and answers all newer queries. It answers all queries that waited during a restart, if
// the kernel drops no later query.
func TestBacklog_GivesUpTheOldestAndOnlyThose(t *testing.T) {
	for name, c := range map[string]struct {
		fill     uint32 // sixteenths of the buffer
		runsOver bool   // the kernel drops one
		restart  bool   // then another process reads the socket
		dropped  bool   // then the kernel drops another query
		stale    bool   // the older half of the queries is discarded
		givenUp  bool
	}{
		"runs over, half of it stale":                    {fill: 15, runsOver: true, stale: true, givenUp: true},
		"runs over, none stale":                          {fill: 15, runsOver: true},
		"nearly full, half of it stale":                  {fill: 15, stale: true, givenUp: true},
		"not so full, half of it stale":                  {fill: 11, stale: true},
		"nearly full after a restart, half of it stale":  {fill: 15, restart: true, stale: true},
		"ran over during a restart, half of it is stale": {fill: 15, runsOver: true, restart: true, stale: true},
		"runs over after a restart, half of it stale": {fill: 15, restart: true, dropped: true, stale: true,
			givenUp: true},
		"ran over, and again after a restart, half stale": {fill: 15, runsOver: true, restart: true, dropped: true,
			stale: true, givenUp: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := testView(t)
			var now time.Time
			s, err := New(Options{
				Listen: []string{"127.0.0.1:0"}, View: func() *zone.View { return v }, Now: func() time.Time { return now },
				Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			client, err := net.Dial("udp", s.Addrs()[0].String())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			began := time.Now()
			w := newWaiting(t, s, client)
			w.socket.backlog.reset(w.fd)
			w.socket.backlog.caughtUp = true
			room := socketMemory(w.fd)[memoryLimit]
			w.fill(t, room/2)
			older := w.asked
			if now = began.Add(staleAfter); c.stale {
				now = time.Now().Add(staleAfter)
			}
			w.fill(t, room/16*c.fill)
			if c.runsOver {
				w.runOver(t)
			}
			if c.restart {
				w.socket.backlog.reset(w.fd)
			}
			if c.dropped {
				w.runOver(t)
			}

			want := 0
			if c.givenUp {
				if want = older / batch * batch; want == 0 {
					t.Fatalf("only %d queries fit into half of the room: the test tests nothing", older)
				}
			}
			for range w.asked { // more batches than needed
				if _, errno := w.socket.answerBatch(w.fd); errno != 0 {
					break
				}
			}
			if got := w.socket.responder.counts.stale.Load(); got != uint64(want) {
				t.Errorf("of %d older queries and %d in all %d were given up, want %d", older, w.asked, got, want)
			}
			w.answered(t, want)
			after := socketMemory(w.fd)
			if dropped := after[memoryDrops] != 0; dropped != (c.runsOver || c.dropped) {
				t.Errorf("the kernel dropped %d", after[memoryDrops])
			}
		})
	}
}

// Queries that waited during a restart may need a larger buffer. After they are read, the buffer has its normal size.
func TestBacklog_TheBufferIsTheUsualOneOnceReadEmpty(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, restartBuffer); err != nil {
		t.Skipf("this needs CAP_NET_ADMIN: %v", err)
	}
	var b backlog
	b.reset(fd)
	if b.isStale(fd, batch, time.Now); socketMemory(fd)[memoryLimit] != 2*restartBuffer {
		t.Errorf("while queries wait the buffer has %d octets, want %d", socketMemory(fd)[memoryLimit], 2*restartBuffer)
	}
	if b.isStale(fd, batch-1, time.Now); socketMemory(fd)[memoryLimit] != 2*socketBuffer {
		t.Errorf("once nothing waits the buffer has %d octets, want %d", socketMemory(fd)[memoryLimit], 2*socketBuffer)
	}
}

// descriptorOf returns the file descriptor of a socket. The socket must stay open.
func descriptorOf(t *testing.T, s *udpSocket) (fd int) {
	t.Helper()
	if s.withDescriptor(func(is int) { fd = is }); fd == 0 {
		t.Fatal("the socket is closed")
	}
	return fd
}

// waiting is a socket with a small buffer. The queries of a client wait in the buffer.
type waiting struct {
	socket *udpSocket
	fd     int
	client net.Conn
	packet []byte
	asked  int
}

func newWaiting(t *testing.T, s *Server, client net.Conn) *waiting {
	t.Helper()
	arrivalsNoted(t)
	w := &waiting{client: client, packet: query(t, "one.gslb.test.", dns.TypeA)}
	for _, socket := range s.sockets {
		fd := descriptorOf(t, socket)
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 80<<10); err != nil {
			t.Fatal(err)
		}
		_ = arrival(fd) // as after an earlier overload
	}
	w.send(t)
	for end := time.Now().Add(30 * time.Second); w.socket == nil; {
		for _, socket := range s.sockets {
			if fd := descriptorOf(t, socket); socketMemory(fd)[memoryUsed] > 0 {
				w.socket, w.fd = socket, fd
			}
		}
		if time.Now().After(end) {
			t.Fatal("the query is nowhere")
		}
	}
	return w
}

func (w *waiting) send(t *testing.T) {
	t.Helper()
	binary.BigEndian.PutUint16(w.packet, uint16(w.asked))
	if _, err := w.client.Write(w.packet); err != nil {
		t.Fatal(err)
	}
	w.asked++
}

// ask sends a query and returns when the query is in the socket's buffer.
func (w *waiting) ask(t *testing.T) {
	t.Helper()
	before := socketMemory(w.fd)[memoryUsed]
	w.send(t)
	for end := time.Now().Add(30 * time.Second); socketMemory(w.fd)[memoryUsed] == before; {
		if time.Now().After(end) {
			t.Fatalf("query %d did not arrive", w.asked)
		}
	}
}

// fill sends queries until the given number of octets of the buffer is used.
func (w *waiting) fill(t *testing.T, octets uint32) {
	t.Helper()
	for socketMemory(w.fd)[memoryUsed] < octets {
		w.ask(t)
	}
}

// runOver sends queries until the kernel drops a query, and ignores the dropped query.
func (w *waiting) runOver(t *testing.T) {
	t.Helper()
	before := socketMemory(w.fd)
	for end := time.Now().Add(30 * time.Second); ; {
		w.send(t)
		after := socketMemory(w.fd)
		for ; after[memoryUsed] == before[memoryUsed] &&
			after[memoryDrops] == before[memoryDrops]; after = socketMemory(w.fd) {
			if time.Now().After(end) {
				t.Fatalf("query %d did not arrive, and was not dropped", w.asked)
			}
		}
		if after[memoryDrops] != before[memoryDrops] {
			w.asked--
			return
		}
		before = after
	}
}

// answered checks that all queries except the first queries have an answer.
func (w *waiting) answered(t *testing.T, first int) {
	t.Helper()
	_ = w.client.SetReadDeadline(time.Now().Add(30 * time.Second))
	reply, seen := make([]byte, udpSize), make(map[int]bool)
	for len(seen) < w.asked-first {
		n, err := w.client.Read(reply)
		if err != nil {
			t.Fatalf("after %d answers of %d: %v", len(seen), w.asked-first, err)
		}
		id := int(read(t, reply[:n]).Id)
		if id < first || seen[id] {
			t.Fatalf("an answer to query %d, which was given up or answered", id)
		}
		seen[id] = true
	}
}

// arrivalsNoted waits until the kernel records the arrival time of packets, which it starts some time after the
// request.
func arrivalsNoted(t *testing.T) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s, err := newUDPSocket(conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	fd := descriptorOf(t, s)
	_ = arrival(fd)
	for end := time.Now().Add(30 * time.Second); ; {
		if _, err := conn.WriteTo([]byte("x"), conn.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		sent := time.Now()
		if _, _, err := conn.ReadFrom(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if !arrival(fd).After(sent) {
			return
		}
		if time.Now().After(end) {
			t.Skip("this kernel does not note when packets arrive")
		}
	}
}
