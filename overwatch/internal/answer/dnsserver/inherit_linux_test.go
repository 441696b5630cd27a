package dnsserver // inside: it uses prepareForRestart and socketBuffer

import (
	"context"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"gslb.internal/overwatch/internal/answer/zone"
)

// A node may need seconds between the opening of the sockets and the first read. The previous process increased the
// buffer for the queries that arrive during this time, and the buffer stays large until the node has read them.
func TestInherited_KeepsTheRoomForQueriesUntilTheyAreRead(t *testing.T) {
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := tcp.Addr().String()
	udp, err := net.ListenPacket("udp4", at)
	for try := 0; err != nil && try < 100; try++ { // another program uses the port for UDP
		tcp.Close()
		if tcp, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		at = tcp.Addr().String()
		udp, err = net.ListenPacket("udp4", at)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	defer udp.Close()
	var files []*os.File
	for _, socket := range []interface{ File() (*os.File, error) }{tcp.(*net.TCPListener), udp.(*net.UDPConn)} {
		f, err := socket.File()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	raw, err := udp.(*net.UDPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	room := func() (size int) {
		if failed := raw.Control(func(fd uintptr) {
			size,
				err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
		}); failed != nil || err != nil {
			t.Fatal(failed, err)
		}
		return size
	}
	if err := raw.Control(func(fd uintptr) { prepareForRestart(int(fd)) }); err != nil {
		t.Fatal(err)
	}
	left := room()
	if left <= 2*socketBuffer {
		t.Skipf("the kernel allows a buffer of %d octets only: this needs CAP_NET_ADMIN", left)
	}
	v := testView(t)
	s, err := New(Options{Listen: []string{at}, Inherited: files, View: func() *zone.View { return v },
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	if got := room(); got != left {
		t.Errorf("before anything was read there is room for %d octets, and %d were left", got, left)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	exchange(t, "udp", at, "one.gslb.test.")
	// The kernel changes this state, so the test polls it.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); room() != 2*socketBuffer; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("after all was read there is still room for %d octets", room())
		}
	}
}

// More sockets than the next process accepts would prevent its start.
func TestKeepSockets_HasABound(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := StoreSockets(make([]syscall.Conn, 1024)); err != nil {
		t.Error(err)
	}
	if StoreSockets(make([]syscall.Conn, 1025)) == nil {
		t.Error("1025 sockets were kept")
	}
}
