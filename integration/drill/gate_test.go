package drill_test

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"gslb.internal/integration/harness"
)

// gate is a proxy from one node to the API of another. While it is shut, it closes all connections.
type gate struct {
	net.Listener

	to netip.AddrPort

	mu    sync.Mutex
	shut  bool
	conns map[net.Conn]bool
}

// openGate opens a gate to the API of a node. It closes with the test.
func openGate(t *testing.T, to *harness.Node) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{Listener: l, to: to.API, conns: map[net.Conn]bool{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { g.pass(in) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		g.set(true)
		running.Wait()
	})
	return g
}

// pass copies between a client and the node until one of them ends, or the gate is shut.
func (g *gate) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", g.to.String())
	if err != nil {
		return
	}
	defer out.Close()
	if !g.keep(in, out) {
		return
	}
	defer g.drop(in, out)
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
	both.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
	both.Wait()
}

// keep stores connections for set. It returns false if the gate is shut.
func (g *gate) keep(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		g.conns[c] = true
	}
	return !g.shut
}

func (g *gate) drop(conns ...net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		delete(g.conns, c)
	}
}

// set shuts or opens the gate.
func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	for c := range g.conns {
		if shut {
			_ = c.Close()
		}
	}
}
