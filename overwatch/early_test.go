package overwatch // inside: it uses newNode and run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/logging"
)

// A query that arrives while another process uses the data directory waits in the socket, and the first view answers
// it. The same applies to a UDP query before run. The node opens the UDP sockets directly after the TCP listener.
func TestNewNode_AnswersQueriesThatArrivedBeforeTheStoreWasOpen(t *testing.T) {
	t.Parallel()
	// A start waits a second for the directory. The test retries if another program takes the port.
	for range 20 {
		n, early := openedOnWaitingQuery(t)
		if n == nil {
			continue
		}
		waiting := []*dns.Conn{early, send(t, "udp", n.dns.Addrs()[0].String())}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.run(ctx, nil) }()
		for _, conn := range waiting {
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute)) // only a hang reaches it
			if r, err := conn.ReadMsg(); err != nil || len(r.Answer) != 1 {
				t.Errorf("over %s: %v, %v", conn.RemoteAddr().Network(), r, err)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return
	}
	t.Fatal("no socket took a query before the store was open")
}

// openedOnWaitingQuery opens a node while the test locks its data directory. It releases the directory after sending a
// query over TCP, and returns the connection. It returns nil if no socket opens in time.
func openedOnWaitingQuery(t *testing.T) (n *node, waiting *dns.Conn) {
	t.Helper()
	dir, at := t.TempDir(), freeAddress(t)
	holder, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type opening struct {
		node *node
		err  error
	}
	opened := make(chan opening, 1)
	cfg, path := listening(t, dir, at)
	go func() {
		n, err := newNode(context.Background(), cfg, path, zerolog.Nop(), new(logging.Control))
		opened <- opening{n, err}
	}()
	for waiting == nil && len(opened) == 0 {
		waiting = send(t, "tcp", at)
	}
	if err := holder.Close(); err != nil {
		t.Error(err)
	}
	o := <-opened
	if o.err != nil && !errors.Is(o.err, store.ErrInUse) && !errors.Is(o.err, syscall.EADDRINUSE) {
		t.Fatal(o.err)
	}
	if o.node != nil {
		t.Cleanup(o.node.close)
	}
	if waiting == nil {
		return nil, nil
	}
	return o.node, waiting
}

// send sends a query. It returns nil if no socket accepts it.
func send(t *testing.T, network, at string) *dns.Conn {
	t.Helper()
	conn, err := net.Dial(network, at)
	if err != nil {
		return nil
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &dns.Conn{Conn: conn}
	if err := c.WriteMsg(new(dns.Msg).SetQuestion("gslb.test.", dns.TypeSOA)); err != nil {
		return nil
	}
	return c
}

// freeAddress returns a loopback address with a port that no TCP listener uses.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// listening returns the configuration of a node that serves DNS on an address, and the file's path.
func listening(t *testing.T, dir, at string) (*config.Config, string) {
	t.Helper()
	path := sample(t, dir, "127.0.0.1:0")
	text, err := os.ReadFile(path)
	if err == nil {
		edited := strings.Replace(string(text), `{listen_address: "127.0.0.1:0"`, fmt.Sprintf("{listen_address: %q", at), 1)
		err = os.WriteFile(path, []byte(edited), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := control.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, path
}

// The error of a second node with the directory and address of a running node contains the directory and the process
// ID.
func TestNewNode_NamesTheDirectoryInUseBeforeTheAddressInUse(t *testing.T) {
	t.Parallel()
	n := opened(t)
	cfg, path := listening(t, n.state.Config().DataDir, n.dns.Addrs()[0].String())
	second, err := newNode(t.Context(), cfg, path, zerolog.Nop(), new(logging.Control))
	if !errors.Is(err, store.ErrInUse) {
		t.Errorf("the start ends with %v", err)
	}
	if second != nil {
		second.close()
	}
}
