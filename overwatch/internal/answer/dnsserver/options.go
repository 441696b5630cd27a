package dnsserver

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnstap"
	"gslb.internal/overwatch/internal/answer/querylog"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
)

// Options configures a Server.
type Options struct {
	// Listen contains the listen addresses as "address:port". ":port" means all addresses of both families. Port 0
	// selects a free port.
	Listen []string
	// Inherited contains open sockets, the result of the function Inherited. The server uses them for addresses in
	// Listen instead of new sockets. New owns and closes them.
	Inherited []*os.File
	// Store is called with the sockets that New opened, before they are read. It may duplicate them, to pass them to
	// the next process. New logs an error. Nil disables storing.
	Store func([]syscall.Conn) error
	// View returns the current view. It is called at least once per query by many goroutines, and must not block.
	View func() *zone.View
	// NSID is the server identifier for clients that request it (RFC 5001), at most MaxNSID octets. Empty disables
	// NSID.
	NSID string
	// ClientSubnet enables EDNS client subnet options (RFC 7871). If false, the server ignores them.
	ClientSubnet bool
	// Proxies contains the networks whose messages and connections start with a header of the PROXY protocol. Messages of
	// these networks without a header are dropped. Empty disables the protocol.
	Proxies []netip.Prefix
	// Explain answers TXT queries for _why.<name>. Nil disables explanations.
	Explain ExplainFunc
	// Updates answers DNS UPDATE messages. Nil: UPDATE is not implemented.
	Updates Updates
	// MaxUDPSize is the initial maximum UDP response size in octets; see SetMaxUDPSize. 0 means 1232.
	MaxUDPSize int
	// Decisions records the answers of load-balanced names; nil disables recording.
	Decisions *decisions.Recorder
	// Dnstap receives queries with their responses; nil disables dnstap.
	Dnstap *dnstap.Tap
	// QueryLog receives queries with their results; nil disables the log.
	QueryLog *querylog.Log
	// Filters contains the initial filters of the queries for Dnstap and QueryLog; see SetFilters. Nil selects no query.
	Filters *config.DNS
	// RateLimit limits identical responses to a network.
	RateLimit RateLimit
	// Rotations returns the initial rotations of a socket; nil means random rotations.
	Rotations func() *zone.Rotations
	// Now is the clock for cookies, the rate limit and expired queries; nil means time.Now.
	Now        func() time.Time
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// MaxNSID is the largest length of a server identifier in octets. It then fits into each response.
const MaxNSID = 64

// validate checks the options and sets defaults.
func (o *Options) validate() error {
	if len(o.Listen) == 0 {
		return fmt.Errorf("%s: no listen address; set an address such as \":53\"", listenKey)
	}
	if len(o.NSID) > MaxNSID {
		return fmt.Errorf("name server identifier %q: longer than %d octets", o.NSID, MaxNSID)
	}
	if o.MaxUDPSize == 0 {
		o.MaxUDPSize = udpSize
	}
	if o.Store == nil {
		o.Store = func([]syscall.Conn) error { return nil }
	}
	if o.Rotations == nil {
		o.Rotations = randomRotations
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// randomRotations returns rotations with random positions, which clients cannot predict.
func randomRotations() *zone.Rotations {
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails
	return zone.NewRotations(binary.NativeEndian.Uint64(seed[:8]), binary.NativeEndian.Uint64(seed[8:]))
}
