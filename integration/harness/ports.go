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

// Ports are taken from firstPort on and before lastPort, below Linux's ephemeral range (32768 and up): a port there
// could be given to somebody's outgoing connection while a stopped program waits to be started again on it.
const (
	firstPort = 15000
	lastPort  = 32000
)

// portTries is the number of ports that are tried. fewestPorts is the smallest range that is worth searching.
const (
	portTries   = 200
	fewestPorts = 4000
)

// releaseBound is the time limit for a child that was just forked to close its copies of our sockets, at exec.
const releaseBound = 10 * time.Second

// ports returns the range to choose from, without last. It avoids the ports that this system gives to outgoing
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

// portsBeside returns a range without the ephemeral ports, low to high: the usual range if they are outside of it, else
// the ports below or above them. Where nearly all ports are ephemeral it returns the usual range.
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

// taken has the ports that this process has reserved. None is reserved twice: its program may be stopped just now, to
// be started on it again, while another cluster looks for ports. On Linux an abstract socket claims the port too, so
// that other processes with clusters leave it alone.
var taken struct {
	sync.Mutex
	claims map[uint16]io.Closer // nil where the cluster is over
}

// claimOf returns the name of the abstract socket that claims a port.
func claimOf(port uint16) string { return fmt.Sprintf("@gslb-integration-port-%d", port) }

// claim takes a port for the caller. It returns false if the port is taken, by this process or another one.
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

// Reservation is a port that was found free. It is held until Release, and claimed, so that no other cluster takes it,
// until Close.
type Reservation struct {
	port uint16
	held []io.Closer
}

// Reserve finds one port that is free on all the addresses, on the given networks ("tcp", "udp"), and holds it.
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

// Close gives up the port and the claim. It may be called again.
func (r *Reservation) Close() {
	r.Release()
	unclaim(r.port)
}

// Release closes the sockets of the port, for the program that is about to be started on it, and keeps the claim. It
// returns when nothing listens there any more: a child of this process that was just forked has copies of the sockets
// until its exec, and a client that connected to those would be reset. It may be called again.
func (r *Reservation) Release() {
	for _, c := range r.held {
		_ = c.Close() // a listening socket that does not close cannot be told from one that did
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
