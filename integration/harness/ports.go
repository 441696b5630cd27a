package harness

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"sync"
)

// Ports are taken below Linux's ephemeral range (32768 and up): a port there could be given to somebody's outgoing
// connection while a stopped program waits to be started again on it.
const (
	firstPort = 15000
	lastPort  = 32000
)

// portTries bounds the search. With 17 000 ports to choose from, more failures mean that something else is wrong.
const portTries = 200

// localhost is where the nodes and agents listen.
var localhost = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// taken are the ports that this process has reserved already. None is reserved twice: its program may just be stopped, to be started on it again,
// while a cluster beside it looks for ports. Another process on this machine that looks for ports, which it would find free then, is told by a
// claim, where there are abstract sockets: on Linux.
var taken struct {
	sync.Mutex
	claims map[uint16]io.Closer // nil where the cluster is over
}

// claimOf is the abstract socket that stands for a port.
func claimOf(port uint16) string { return fmt.Sprintf("@gslb-integration-port-%d", port) }

// claim says whether a port is the caller's, and makes it so.
func claim(port uint16) bool {
	taken.Lock()
	defer taken.Unlock()
	if _, ours := taken.claims[port]; ours {
		return false
	}
	var held io.Closer = io.NopCloser(nil)
	if runtime.GOOS == "linux" {
		l, err := net.Listen("unix", claimOf(port))
		if err != nil {
			return false // another run has it, until it ends
		}
		held = l
	}
	if taken.claims == nil {
		taken.claims = map[uint16]io.Closer{}
	}
	taken.claims[port] = held
	return true
}

// unclaim leaves a port to other processes.
func unclaim(port uint16) {
	taken.Lock()
	defer taken.Unlock()
	if held := taken.claims[port]; held != nil {
		_ = held.Close() // it has no peer to lose
		taken.claims[port] = nil
	}
}

// reservation is a port that was found free and is held until release.
type reservation struct {
	port uint16
	held []io.Closer
}

// reserve finds one port that is free on all the addresses, on the given networks ("tcp", "udp"), and holds it.
func reserve(addrs []netip.Addr, networks ...string) (*reservation, error) {
	var last error
	for range portTries {
		r := &reservation{port: uint16(firstPort + rand.IntN(lastPort-firstPort))}
		if !claim(r.port) {
			last = fmt.Errorf("port %d is another program's of this run or another", r.port)
			continue
		}
		if last = r.hold(addrs, networks); last == nil {
			return r, nil
		}
		r.release()
		unclaim(r.port)
	}
	return nil, fmt.Errorf("no free port between %d and %d on %v: %w", firstPort, lastPort, addrs, last)
}

func (r *reservation) hold(addrs []netip.Addr, networks []string) error {
	for _, addr := range addrs {
		at := netip.AddrPortFrom(addr, r.port).String()
		for _, network := range networks {
			c, err := listen(network, at)
			if err != nil {
				return err
			}
			r.held = append(r.held, c)
		}
	}
	return nil
}

// release lets the port go, for the program that is about to be started on it, and holds the claim. It may be called again.
func (r *reservation) release() {
	for _, c := range r.held {
		_ = c.Close() // a listening socket that does not close cannot be told from one that did
	}
	r.held = nil
}

func (r *reservation) on(addr netip.Addr) netip.AddrPort {
	return netip.AddrPortFrom(addr, r.port)
}

func listen(network, at string) (io.Closer, error) {
	switch network {
	case "tcp":
		return net.Listen("tcp", at)
	case "udp":
		return net.ListenPacket("udp", at)
	}
	return nil, errors.New("unknown network " + network)
}
