package harness

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"time"
)

// Ports are between firstPort and lastPort, below the ephemeral range of Linux (32768 and up). The system could assign
// an ephemeral port to an outgoing connection of another program before a stopped program restarts.
const (
	firstPort = 15000
	lastPort  = 32000
)

// portTries is the number of ports that are tried. fewestPorts is the smallest range that is worth searching.
const (
	portTries   = 200
	fewestPorts = 4000
)

// releaseBound is the time limit for a forked child to close its copies of the sockets of this process, at exec.
const releaseBound = 10 * time.Second

// ports returns the range of ports, without last. The range avoids the ports that this system assigns to outgoing
// connections.
var ports = sync.OnceValues(func() (first, last int) {
	var low, high int
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return firstPort, lastPort // not Linux
	}
	if _, err := fmt.Sscan(string(text), &low, &high); err != nil {
		return firstPort, lastPort
	}
	return portsBeside(low, high)
})

// portsBeside returns a range without the ephemeral ports, low to high: the usual range if it contains none of them,
// otherwise the ports below or above them. If nearly all ports are ephemeral, it returns the usual range.
func portsBeside(low, high int) (first, last int) {
	const unprivileged, end = 1024, 1 << 16
	switch {
	case high < firstPort || low >= lastPort:
	case low-unprivileged >= fewestPorts:
		return unprivileged, low
	case end-1-high >= fewestPorts:
		return high + 1, end
	}
	return firstPort, lastPort
}

// localhost is the address that the nodes and agents listen on.
var localhost = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// taken has the ports that this process has reserved. A port is reserved once: while its program is stopped, another
// cluster must not use the port. On Linux an abstract socket also claims the port, for other processes with clusters.
var taken struct {
	sync.Mutex
	claims map[uint16]io.Closer // nil after the end of the cluster
}

// claimOf returns the name of the abstract socket that claims a port.
func claimOf(port uint16) string { return fmt.Sprintf("@gslb-integration-port-%d", port) }

// claim reserves a port for the caller. It returns false if this or another process has reserved the port.
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
			return false // another run has claimed the port, until that run ends
		}
		held = l
	}
	if taken.claims == nil {
		taken.claims = map[uint16]io.Closer{}
	}
	taken.claims[port] = held
	return true
}

// unclaim releases a port to other processes.
func unclaim(port uint16) {
	taken.Lock()
	defer taken.Unlock()
	if held := taken.claims[port]; held != nil {
		_ = held.Close() // it has no peer to lose
		taken.claims[port] = nil
	}
}

// Reservation is a free port. Its sockets stay open until Release, and its claim, which excludes other clusters, lasts
// until Close.
type Reservation struct {
	port uint16
	held []io.Closer
}

// Reserve finds a port that is free on all addresses, on the given networks ("tcp", "udp"), and reserves it.
func Reserve(addrs []netip.Addr, networks ...string) (*Reservation, error) {
	first, end := ports()
	var last error
	for range portTries {
		r := &Reservation{port: uint16(first + rand.IntN(end-first))}
		if !claim(r.port) {
			last = fmt.Errorf("port %d is another program's of this run or another", r.port)
			continue
		}
		if last = r.hold(addrs, networks); last == nil {
			return r, nil
		}
		r.Close()
	}
	return nil, fmt.Errorf("no free port between %d and %d on %v: %w", first, end, addrs, last)
}

func (r *Reservation) hold(addrs []netip.Addr, networks []string) error {
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

// Close releases the port and the claim. A second call does nothing.
func (r *Reservation) Close() {
	r.Release()
	unclaim(r.port)
}

// Release closes the sockets of the port, so that the program can start, and does not release the claim. It returns
// when no socket listens on the port. Until its exec, a forked child of this process has copies of the sockets, and
// the system would reset a client that connects to a copy. A second call does nothing.
func (r *Reservation) Release() {
	for _, c := range r.held {
		_ = c.Close() // the check of the port below detects a socket that did not close
	}
	for _, c := range r.held {
		if l, ok := c.(net.Listener); ok {
			awaitRefusal(l.Addr().String())
		}
	}
	r.held = nil
}

// awaitRefusal waits until nothing accepts connections at an address, for releaseBound at most.
func awaitRefusal(at string) {
	for end := time.Now().Add(releaseBound); time.Now().Before(end); {
		c, err := net.DialTimeout("tcp", at, time.Second)
		if err != nil {
			return
		}
		_ = c.SetDeadline(end)
		_, _ = c.Read(make([]byte, 1)) // until the other side closes
		_ = c.Close()
	}
}

// On returns the port at one of the addresses.
func (r *Reservation) On(addr netip.Addr) netip.AddrPort {
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
