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

	"gslb.internal/overwatch/internal/answer/dnstap"
	"gslb.internal/overwatch/internal/answer/querylog"
	"gslb.internal/overwatch/internal/state/config"
)

// Server answers DNS queries over UDP and TCP.
type Server struct {
	log       zerolog.Logger
	addresses []netip.AddrPort
	listeners []*listener
	sockets   []*udpSocket
	tcp       *tcpServer
	counts    []*counts // one per responder
	udpSize   atomic.Int32
	dnstap    *dnstap.Tap   // nil disables dnstap
	queryLog  *querylog.Log // nil disables the query log
	tapFilter atomic.Pointer[filter]
	logFilter atomic.Pointer[filter]
}

// SetMaxUDPSize sets the maximum UDP response size in octets, from the next response on. It is clamped to 512 to 4096.
func (s *Server) SetMaxUDPSize(octets int) {
	s.udpSize.Store(int32(min(max(octets, minUDPSize), maxUDPSize)))
}

// SetFilters sets the filters of dnstap and of the query log, from the next query on.
func (s *Server) SetFilters(cfg *config.DNS) {
	s.tapFilter.Store(newFilter(cfg.Dnstap.Filter()))
	s.logFilter.Store(newFilter(cfg.QueryLog.Filter()))
}

// New opens the sockets. Queries wait in the sockets until Run. The caller must call Run or Close.
func New(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Server{log: o.Logger, dnstap: o.Dnstap, queryLog: o.QueryLog}
	if o.Filters != nil {
		s.SetFilters(o.Filters)
	}
	b := sharedSettings{
		view: o.View, nsid: []byte(o.NSID), clientSubnet: o.ClientSubnet, rateLimiterTemplate: newRateLimiter(o.RateLimit),
		recorder: o.Decisions, explain: o.Explain, updates: o.Updates, newRotations: o.Rotations,
		proxies:   o.Proxies,
		keepalive: uint16(idleTimeout / (100 * time.Millisecond)), now: o.Now, log: o.Logger, udpSize: &s.udpSize,
	}
	s.SetMaxUDPSize(o.MaxUDPSize)
	if _, err := rand.Read(b.secret[:]); err != nil {
		return nil, fmt.Errorf("create the secret of DNS cookies: %w", err)
	}
	s.tcp = &tcpServer{
		// At most half of the descriptors, so that a connection flood leaves the other half for other uses.
		connections: newConnections(min(maxConnections, maxDescriptors()/2)),
		responder:   s.newResponder(b),
	}
	if err := s.openSockets(o, b); err != nil {
		s.Close()
		return nil, err
	}
	if err := o.Registerer.Register(newCollector(s)); err != nil {
		s.Close()
		return nil, fmt.Errorf("register the metrics of the DNS server: %w", err)
	}
	return s, nil
}

// newResponder returns a responder with its own rotations and counts.
func (s *Server) newResponder(b sharedSettings) *responder {
	r := &responder{
		sharedSettings: b,
		rotations:      b.newRotations(),
		counts:         new(counts),
		socketRecorder: b.recorder.NewSocketRecorder(),
		rateLimiter:    b.rateLimiterTemplate,
	}
	if s.dnstap != nil || s.queryLog != nil {
		r.observers = &observers{tap: s.dnstap.NewWorker(), log: s.queryLog.NewWorker(r.socketRecorder),
			tapped: sampler{filter: &s.tapFilter}, logged: sampler{filter: &s.logFilter}, recorder: r.socketRecorder}
	}
	s.counts = append(s.counts, r.counts)
	return r
}

// openSockets binds each address and creates a reader for each UDP socket.
func (s *Server) openSockets(o Options, b sharedSettings) (err error) {
	inherited, err := groupInherited(o.Inherited)
	if err != nil {
		return err
	}
	defer func() { closeSocketSets(inherited) }() // closes the unused sockets
	addresses, err := parseListenAddresses(o.Listen)
	if err != nil {
		return err
	}
	var opened []*socketSet
	defer func() {
		if err != nil {
			for _, p := range opened {
				closeAll(p.tcp, p.udp)
			}
		}
	}()
	var own []syscall.Conn // without sockets of a socket unit, which systemd owns
	for _, at := range addresses {
		p, err := s.socketsOf(at, inherited)
		if at.optional && (errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EADDRNOTAVAIL)) {
			s.log.Info().Msg("no IPv6 on this machine: serving DNS over IPv4 only")
			continue
		}
		if err != nil {
			return err
		}
		delete(inherited, at.AddrPort)
		opened = append(opened, p)
		if p.fromStore {
			own = append(own, p.tcp.(*net.TCPListener))
			for _, conn := range p.udp {
				own = append(own, conn)
			}
		}
	}
	for at, p := range inherited {
		if !p.fromStore {
			return fmt.Errorf(
				"%s: the service manager passed a socket for %s, which is not a listen address: use equal addresses in both",
				listenKey, at)
		}
		s.log.Info().Stringer("address", at).Msg("stopped serving DNS on a removed listen address")
	}
	if err := o.Store(own); err != nil {
		s.log.Warn().Err(err).Msg("queries that arrive during a restart will be lost")
	}
	for _, p := range opened {
		if err := s.addReaders(p, b); err != nil {
			return err
		}
	}
	return nil
}

// addReaders creates the readers of one address.
func (s *Server) addReaders(p *socketSet, b sharedSettings) (err error) {
	listener, err := newListener(p.tcp.(*net.TCPListener))
	if err != nil {
		return err
	}
	s.listeners = append(s.listeners, listener)
	s.addresses = append(s.addresses, listener.address)
	sockets := len(p.udp)
	if p.udp, err = duplicateSockets(p.udp, socketsPerAddress()); err != nil {
		return fmt.Errorf("duplicate the UDP socket of %s: %w", listener.address, err)
	}
	for i, conn := range p.udp {
		socket, err := newUDPSocket(conn, s.newResponder(b))
		if err != nil {
			return err
		}
		socket.isDuplicate = i >= sockets
		s.sockets = append(s.sockets, socket)
	}
	return nil
}

// socketsOf returns the inherited sockets of an address, or opens new sockets.
func (s *Server) socketsOf(at address, inherited map[netip.AddrPort]*socketSet) (*socketSet, error) {
	p := inherited[at.AddrPort]
	if p == nil {
		tcp, udp, err := bind(at.AddrPort, socketsPerAddress())
		return &socketSet{tcp, udp, true}, err
	}
	if p.tcp == nil || p.udp == nil {
		return nil,
			fmt.Errorf(
				"%s: %s: the service manager passed only a TCP or only a UDP socket: set both (ListenStream= and "+
					"ListenDatagram=)", listenKey, at)
	}
	s.log.Info().Stringer("address", at.AddrPort).Msg("serving DNS on inherited sockets")
	return p, nil
}

// Close closes the sockets of a server without Run.
func (s *Server) Close() {
	for _, listener := range s.listeners {
		listener.close()
	}
	for _, socket := range s.sockets {
		socket.close()
	}
}

// Addrs returns the listen addresses for UDP and TCP.
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

// Run answers queries until ctx ends, then answers the queries that already arrived, and closes the sockets. It returns
// nil unless a socket fails permanently.
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
		s.tcp.connections.shutDown(stopGrace)
		err := streams.Wait()
		for _, socket := range s.sockets {
			socket.stop()
		}
		return err
	})
	return group.Wait()
}
