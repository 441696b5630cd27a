package dnsserver

import (
	"context"
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

// Queries wait in a socket that nobody reads; their ids are their numbers. Where the room for them is about used up, those that are stale by then are given
// up and all younger ones are answered. Of those that waited for a process that was restarted all are answered if the kernel drops none that come later.
func TestOverrun_GivesUpTheOldestAndOnlyThose(t *testing.T) {
	for name, c := range map[string]struct {
		fill     uint32 // sixteenths of the room
		runsOver bool   // the kernel drops one
		restart  bool   // then another process comes to read it
		dropped  bool   // and the kernel drops one more
		stale    bool   // the older half
		givenUp  bool
	}{
		"runs over, half of it stale":                     {fill: 15, runsOver: true, stale: true, givenUp: true},
		"runs over, none stale":                           {fill: 15, runsOver: true},
		"nearly full, half of it stale":                   {fill: 15, stale: true, givenUp: true},
		"not so full, half of it stale":                   {fill: 11, stale: true},
		"nearly full after a restart, half of it stale":   {fill: 15, restart: true, stale: true},
		"ran over during a restart, half of it is stale":  {fill: 15, runsOver: true, restart: true, stale: true},
		"runs over after a restart, half of it stale":     {fill: 15, restart: true, dropped: true, stale: true, givenUp: true},
		"ran over, and again after a restart, half stale": {fill: 15, runsOver: true, restart: true, dropped: true, stale: true, givenUp: true},
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
			w.socket.room.enter(w.socket.fd)
			w.socket.stale(1) // so few were read, so nothing waited
			room := memory(w.socket.fd)[memoryLimit]
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
				w.socket.room.enter(w.socket.fd)
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
			for range w.asked { // far more than it takes
				if _, errno := w.socket.answerBatch(); errno != 0 {
					break
				}
			}
			if got := w.socket.responder.counts.stale.Load(); got != uint64(want) {
				t.Errorf("of %d older queries and %d in all %d were given up, want %d", older, w.asked, got, want)
			}
			w.answered(t, want)
			after := memory(w.socket.fd)
			if dropped := after[memoryDrops] != 0; dropped != (c.runsOver || c.dropped) {
				t.Errorf("the kernel dropped %d", after[memoryDrops])
			}
			wantRoom := room
			if c.givenUp {
				wantRoom = max(room/2, leastRoom)
			}
			if after[memoryLimit] != wantRoom {
				t.Errorf("then there is room for %d octets, want %d", after[memoryLimit], wantRoom)
			}
		})
	}
}

// Once nothing waits any more, the room for queries becomes what it always is, though nobody asks anything.
func TestOverrun_TheRoomComesBack(t *testing.T) {
	t.Parallel() // it takes growEvery
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	receiveBuffer(fd, socketBuffer)
	usual := memory(fd)[memoryLimit]

	v := testView(t)
	s, err := New(Options{Listen: []string{"127.0.0.1:0"}, View: func() *zone.View { return v }, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	for _, socket := range s.sockets {
		socket.halve()
		if room := memory(socket.fd)[memoryLimit]; room != max(usual/2, leastRoom) {
			t.Errorf("half of the room of %d octets is %d", usual, room)
		}
	}
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for _, socket := range s.sockets {
		room := func() uint32 {
			socket.mu.Lock()
			defer socket.mu.Unlock()
			return memory(socket.fd)[memoryLimit]
		}
		for end := time.Now().Add(30 * time.Second); room() != usual; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("there is still room for %d octets, want %d", room(), usual)
			}
		}
	}
}

// The room is halved down to a least one and comes back by doubling, one step in growEvery.
func TestOverrun_TheRoomComesBackStepByStep(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	receiveBuffer(fd, socketBuffer)
	usual := memory(fd)[memoryLimit]
	now := time.Unix(1_000_000_000, 0)
	r := testResponder(testView(t))
	r.now = func() time.Time { return now }
	s := &udpSocket{descriptor: &descriptor{fd: fd}, responder: r}
	for range 20 {
		s.halve()
	}
	room := memory(fd)[memoryLimit]
	if room != leastRoom {
		t.Fatalf("there is room for %d octets, want %d", room, leastRoom)
	}
	for room < usual {
		if wait := s.relax(); wait != growEvery || memory(fd)[memoryLimit] != room {
			t.Fatalf("at once there is room for %d octets, after %d, and the next step is in %s", memory(fd)[memoryLimit], room, wait)
		}
		now = now.Add(growEvery)
		wait, got := s.relax(), memory(fd)[memoryLimit]
		if want := min(2*room, usual); got != want {
			t.Fatalf("after %d there is room for %d octets, want %d", room, got, want)
		}
		if room = got; room == 2*socketBuffer && wait != 0 {
			t.Errorf("with the usual room the next step is in %s", wait)
		}
	}
	now = now.Add(growEvery)
	if wait := s.relax(); wait != 0 || memory(fd)[memoryLimit] != usual {
		t.Errorf("in the end there is room for %d octets, and the next step is in %s", memory(fd)[memoryLimit], wait)
	}
}

// Half of the room is half of it also where that is more than net.core allows, as it is for a privileged process on most machines.
func TestOverrun_HalfOfTheRoomMayBeMoreThanOthersGet(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20); err != nil {
		t.Skipf("this needs CAP_NET_ADMIN: %v", err)
	}
	room := memory(fd)[memoryLimit]
	s := &udpSocket{descriptor: &descriptor{fd: fd}, responder: testResponder(testView(t))}
	s.halve()
	if got := memory(fd)[memoryLimit]; got != room/2 {
		t.Errorf("half of the room of %d octets is %d", room, got)
	}
}

// waiting is the socket in which the queries of a client wait, with little room.
type waiting struct {
	socket *udpSocket
	client net.Conn
	packet []byte
	asked  int
}

func newWaiting(t *testing.T, s *Server, client net.Conn) *waiting {
	t.Helper()
	arrivalsNoted(t)
	w := &waiting{client: client, packet: query(t, "one.gslb.test.", dns.TypeA)}
	for _, socket := range s.sockets {
		if err := unix.SetsockoptInt(socket.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 80<<10); err != nil {
			t.Fatal(err)
		}
		_ = arrival(socket.fd) // as if it had run over before
	}
	w.send(t)
	for end := time.Now().Add(30 * time.Second); w.socket == nil; {
		for _, socket := range s.sockets {
			if memory(socket.fd)[memoryUsed] > 0 {
				w.socket = socket
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

// ask sends a query and returns when it waits in the socket.
func (w *waiting) ask(t *testing.T) {
	t.Helper()
	before := memory(w.socket.fd)[memoryUsed]
	w.send(t)
	for end := time.Now().Add(30 * time.Second); memory(w.socket.fd)[memoryUsed] == before; {
		if time.Now().After(end) {
			t.Fatalf("query %d did not arrive", w.asked)
		}
	}
}

// fill asks until so many octets are used.
func (w *waiting) fill(t *testing.T, octets uint32) {
	t.Helper()
	for memory(w.socket.fd)[memoryUsed] < octets {
		w.ask(t)
	}
}

// runOver asks until the kernel drops a query, which it forgets.
func (w *waiting) runOver(t *testing.T) {
	t.Helper()
	before := memory(w.socket.fd)
	for end := time.Now().Add(30 * time.Second); ; {
		w.send(t)
		after := memory(w.socket.fd)
		for ; after[memoryUsed] == before[memoryUsed] && after[memoryDrops] == before[memoryDrops]; after = memory(w.socket.fd) {
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

// answered checks that all queries were answered but the first ones.
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

// arrivalsNoted waits until the kernel does note when packets arrive, which it begins to after it was asked to, and keeps it at that.
func arrivalsNoted(t *testing.T) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := detach(conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	_ = arrival(d.fd)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		at, err := unix.Getsockname(d.fd)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Sendto(d.fd, []byte("x"), 0, at); err != nil {
			t.Fatal(err)
		}
		sent := time.Now()
		if err := d.await(0); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Read(d.fd, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if !arrival(d.fd).After(sent) {
			return
		}
		if time.Now().After(end) {
			t.Skip("this kernel does not note when packets arrive")
		}
	}
}
