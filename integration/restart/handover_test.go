package restart_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness/testbed"
)

// handoverConfig returns a configuration with one static backend without checks, so that a new process answers
// immediately.
const handoverConfig = `mode: overwatch
data_dir: %[1]s/data
overwatch:
  identity: {node_id: handover, region: eu}
  gossip: {bind_address: "127.0.0.1:0", encryption_key: "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="}
  validation: {enabled: false}
dns: {listen_address: "%[2]s", zones: [gslb.test]}
regions: [{name: eu, servers: [{address: 127.0.0.2, port: 80, service: app.gslb.test}]}]
domains: [{name: app.gslb.test, regions: [eu]}]
`

// If a service manager keeps the sockets open, a restart loses no query: queries wait in the socket until the new
// process reads them. In this test, two processes run one after the other under a constant load over UDP and TCP.
//
// Fault 37.
func TestHandover_ARestartOnKeptSocketsLosesNoQuery(t *testing.T) {
	const rate, senders = 20_000, 8
	tcp, udp := keptSockets(t)
	config := filepath.Join(t.TempDir(), "overwatch.yaml")
	text := fmt.Sprintf(handoverConfig, filepath.Dir(config), tcp.Addr())
	testbed.Write(t, config, 0o600, text)
	first := startOnKept(t, config, tcp, udp)
	askedOnce(t, tcp.Addr().String(), "udp")

	var load sync.WaitGroup
	var sent, answered, overTCP atomic.Int64
	loaded, end := context.WithCancel(t.Context())
	defer end()
	for range senders {
		load.Go(func() { askSteadily(loaded, t, tcp.Addr().String(), time.Second*senders/rate, &sent, &answered) })
	}
	load.Go(func() {
		for loaded.Err() == nil {
			askedOnce(t, tcp.Addr().String(), "tcp")
			overTCP.Add(1)
		}
	})
	// The program restarts twice under the load.
	for range 2 {
		before := answered.Load()
		testbed.Until(t, testbed.StartBound, "answers", func(context.Context) error {
			if n := answered.Load() - before; n < rate/2 {
				return fmt.Errorf("%d so far", n)
			}
			return nil
		})
		stopped := time.Now()
		if err := first.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := first.Wait(); err != nil {
			t.Errorf("the process ended with %v", err)
		}
		first = startOnKept(t, config, tcp, udp)
		t.Logf("the restart took %s", time.Since(stopped).Round(time.Millisecond))
	}
	before := answered.Load()
	testbed.Until(t, testbed.StartBound, "answers of the last process", func(context.Context) error {
		if answered.Load() == before {
			return errors.New("none")
		}
		return nil
	})
	end()
	load.Wait()
	if sent.Load() < rate || answered.Load() != sent.Load() {
		t.Errorf("%d queries, %d answered", sent.Load(), answered.Load())
	}
	t.Logf("%d queries over UDP and %d over TCP, all answered", sent.Load(), overTCP.Load())
}

// keptSockets returns a TCP listener and a UDP socket on one port, as a service manager opens them.
func keptSockets(t *testing.T) (*net.TCPListener, *net.UDPConn) {
	t.Helper()
	for range 16 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p, err := net.ListenPacket("udp4", l.Addr().String())
		if err != nil {
			_ = l.Close() // somebody has the port for UDP
			continue
		}
		t.Cleanup(func() { _, _ = l.Close(), p.Close() })
		return l.(*net.TCPListener), p.(*net.UDPConn)
	}
	t.Fatal("no port is free for both TCP and UDP")
	return nil, nil
}

// startOnKept starts a node and passes the sockets to it by the protocol of systemd.
func startOnKept(t *testing.T, config string, tcp *net.TCPListener, udp *net.UDPConn) *exec.Cmd {
	t.Helper()
	b := testbed.Binaries(t)
	stream, err := tcp.File()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	packets, err := udp.File()
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	// The shell replaces itself with the program, so both have the same process id.
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=2 exec "$0" --config "$1"`, b.Overwatch, config)
	cmd.ExtraFiles = []*os.File{stream, packets}
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	testbed.Start(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// roomFor sets the receive buffer size of a socket, above net.core.rmem_max if the test has the permission.
func roomFor(conn *net.UDPConn, size int) error {
	_ = conn.SetReadBuffer(size)
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE,
			size)
	})
	return errors.Join(err, refused)
}

// askedOnce sends one query and waits for as long as a restart may take.
func askedOnce(t *testing.T, at, network string) {
	t.Helper()
	client := &dns.Client{Net: network, Timeout: 30 * time.Second}
	r, _, err := client.Exchange(new(dns.Msg).SetQuestion("app.gslb.test.", dns.TypeA), at)
	if err != nil || len(r.Answer) != 1 {
		t.Errorf("over %s: %v, %v", network, r, err)
	}
}

// unanswered is the maximum number of unanswered queries of one client. More queries than during a restart are
// permitted, and fewer than fill the kernel's buffers if the machine is too busy for the rate.
const unanswered = 1000

// askSteadily sends one query per interval until ctx ends, each with a different id. It counts the answers until all
// have arrived or 20 s have passed.
func askSteadily(ctx context.Context, t *testing.T, at string, interval time.Duration, sent, answered *atomic.Int64) {
	conn, err := net.Dial("udp4", at)
	if err != nil {
		t.Error(err)
		return
	}
	if err := roomFor(conn.(*net.UDPConn), 4<<20); err != nil {
		t.Log("the client's buffer is what the kernel gives anybody:", err)
	}
	packet, err := new(dns.Msg).SetQuestion("app.gslb.test.", dns.TypeA).Pack()
	if err != nil {
		_ = conn.Close()
		t.Error(err)
		return
	}
	var own, got atomic.Int64
	var reading sync.WaitGroup
	reading.Go(func() {
		seen, reply := map[uint16]bool{}, make([]byte, 512)
		for {
			n, err := conn.Read(reply)
			if err != nil {
				return
			}
			if id := binary.BigEndian.Uint16(reply); n > 12 && reply[3]&0xF == 0 && !seen[id] {
				seen[id] = true
				answered.Add(1)
				got.Add(1)
			}
		}
	})
	began := time.Now()
	for ctx.Err() == nil && own.Load() <= math.MaxUint16 {
		if due := int64(time.Since(began) / interval); own.Load() >= due || own.Load()-got.Load() >= unanswered {
			_, _ = unix.Poll(nil, 1)
			continue
		}
		binary.BigEndian.PutUint16(packet, uint16(own.Load()))
		if _, err := conn.Write(packet); err != nil {
			t.Errorf("sending: %v", err)
			break
		}
		own.Add(1)
		sent.Add(1)
	}
	for patience := time.Now().Add(testbed.Patience); got.Load() < own.Load() && time.Now().Before(patience); {
		_, _ = unix.Poll(nil, 10)
	}
	_ = conn.Close()
	reading.Wait()
}
