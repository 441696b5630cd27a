package dnsserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
)

// Server answers DNS queries on UDP and TCP.
type Server struct {
	log       zerolog.Logger
	addresses []netip.AddrPort
	listeners []*listener
	sockets   []*udpSocket
	tcp       *tcpServer
	counts    []*counts // one per responder
	udpSize   atomic.Int32
}

// SetMaxUDPSize bounds responses over UDP from the next one on, in octets. What is out of 512 to 4096 counts as the
// nearer of these.
func (s *Server) SetMaxUDPSize(octets int) {
	s.udpSize.Store(int32(min(max(octets, minUDPSize), maxUDPSize)))
}

// New opens the sockets. Queries wait in them until Run.
func New(o Options) (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := &Server{log: o.Logger}
	b := behaviour{
		view: o.View, nsid: []byte(o.NSID), subnets: o.ClientSubnet, limit: newLimiter(o.RateLimit),
		decisions: o.Decisions, why: o.Why, starts: o.Turns,
		keepalive: uint16(idleTimeout / (100 * time.Millisecond)), now: o.Now, log: o.Logger, udpSize: &s.udpSize,
	}
	s.SetMaxUDPSize(o.MaxUDPSize)
	if _, err := rand.Read(b.secret[:]); err != nil {
		return nil, fmt.Errorf("making the secret of DNS cookies: %w", err)
	}
	s.tcp = &tcpServer{
		// Half of the descriptors, at most: a flood of connections leaves the other half to everything else.
		connections: newConnections(min(maxConnections, descriptors()/2)),
		responder:   s.responder(b),
	}
	if err := s.open(o, b); err != nil {
		s.Close()
		return nil, err
	}
	if err := o.Registerer.Register(newCollector(s)); err != nil {
		s.Close()
		return nil, fmt.Errorf("registering the metrics of the DNS server: %w", err)
	}
	return s, nil
}

// responder makes a responder with turns and counts of its own.
func (s *Server) responder(b behaviour) *responder {
	r := &responder{
		behaviour: b,
		turns:     b.starts(),
		counts:    new(counts),
		noted:     b.decisions.Socket(),
		limiter:   b.limit,
	}
	s.counts = append(s.counts, r.counts)
	return r
}

// open binds every address and makes a reader for every UDP socket.
func (s *Server) open(o Options, b behaviour) (err error) {
	inherited, err := sortPassed(o.Inherited)
	if err != nil {
		return err
	}
	defer func() { closePassed(inherited) }() // those that are not used
	addresses, err := expand(o.Listen)
	if err != nil {
		return err
	}
	var opened []*passed
	defer func() {
		if err != nil {
			for _, p := range opened {
				closeAll(p.tcp, p.udp)
			}
		}
	}()
	var own []syscall.Conn // without those of a socket unit, which systemd keeps
	for _, at := range addresses {
		p, err := s.socketsOf(at, inherited)
		if at.optional && (errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EADDRNOTAVAIL)) {
			s.log.Info().Msg("this machine has no IPv6: serving DNS over IPv4 only")
			continue
		}
		if err != nil {
			return err
		}
		delete(inherited, at.AddrPort)
		opened = append(opened, p)
		if p.kept {
			own = append(own, p.tcp.(*net.TCPListener))
			for _, conn := range p.udp {
				own = append(own, conn)
			}
		}
	}
	for at, p := range inherited {
		if !p.kept {
			return fmt.Errorf(
				"%s: a socket for %s was passed by the service manager, and no address says to serve on it: make both the same",
				listenKey, at)
		}
		s.log.Info().Stringer("address", at).Msg("DNS is no longer served on this address")
	}
	if err := o.Keep(own); err != nil {
		s.log.Warn().Err(err).Msg("queries that come during a restart will be lost")
	}
	for _, p := range opened {
		if err := s.read(p, b); err != nil {
			return err
		}
	}
	return nil
}

// read makes the readers of one address.
func (s *Server) read(p *passed, b behaviour) (err error) {
	listener, err := newListener(p.tcp.(*net.TCPListener))
	if err != nil {
		return err
	}
	s.listeners = append(s.listeners, listener)
	s.addresses = append(s.addresses, listener.address)
	sockets := len(p.udp)
	if p.udp, err = share(p.udp, socketsPerAddress()); err != nil {
		return fmt.Errorf("reading the UDP socket of %s by several cores: %w", listener.address, err)
	}
	for i, conn := range p.udp {
		socket, err := newUDPSocket(conn, s.responder(b))
		if err != nil {
			return err
		}
		socket.twin = i >= sockets
		s.sockets = append(s.sockets, socket)
	}
	return nil
}

// socketsOf returns the sockets of an address: inherited ones, or else new ones.
func (s *Server) socketsOf(at address, inherited map[netip.AddrPort]*passed) (*passed, error) {
	p := inherited[at.AddrPort]
	if p == nil {
		tcp, udp, err := bind(at.AddrPort, socketsPerAddress())
		return &passed{tcp, udp, true}, err
	}
	if p.tcp == nil || p.udp == nil {
		return nil,
			fmt.Errorf(
				"%s: of %s the service manager passed a socket for TCP or UDP only: give it both (ListenStream= and "+
					"ListenDatagram=)", listenKey, at)
	}
	s.log.Info().Stringer("address", at.AddrPort).Msg("serving DNS on sockets that the service manager has kept open")
	return p, nil
}

// Close closes the sockets of a server that will not Run.
func (s *Server) Close() {
	for _, listener := range s.listeners {
		listener.close()
	}
	for _, socket := range s.sockets {
		socket.close()
	}
}

// Addrs returns the addresses that are served, over both UDP and TCP.
func (s *Server) Addrs() []netip.AddrPort { return s.addresses }

// QueriesTotal returns the number of queries since the start.
func (s *Server) QueriesTotal() (total uint64) {
	for _, counts := range s.counts {
		for i := range counts.queries {
			total += counts.queries[i].Load()
		}
	}
	return total
}

// Run answers until ctx ends, then what has arrived by then, and closes the sockets. It returns nil unless a socket
// fails for good.
func (s *Server) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, socket := range s.sockets {
		group.Go(socket.serve)
	}
	var streams errgroup.Group
	for _, listener := range s.listeners {
		streams.Go(func() error { return s.tcp.serve(listener) })
	}
	group.Go(func() error {
		<-ctx.Done()
		for _, listener := range s.listeners {
			listener.close()
		}
		s.tcp.connections.close(stopGrace)
		err := streams.Wait()
		for _, socket := range s.sockets {
			socket.stop()
		}
		return err
	})
	return group.Wait()
}
