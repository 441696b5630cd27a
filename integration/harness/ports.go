package harness

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
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
// while a cluster beside it looks for ports.
var taken struct {
	sync.Mutex
	ports map[uint16]bool
}

// take says whether a port is the caller's.
func take(port uint16) bool {
	taken.Lock()
	defer taken.Unlock()
	if taken.ports[port] {
		return false
	}
	if taken.ports == nil {
		taken.ports = map[uint16]bool{}
	}
	taken.ports[port] = true
	return true
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
		if !take(r.port) {
			last = fmt.Errorf("port %d is another program's of this run", r.port)
			continue
		}
		if last = r.hold(addrs, networks); last == nil {
			return r, nil
		}
		r.release()
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

// release lets the port go, for the program that is about to be started on it. It may be called again.
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
