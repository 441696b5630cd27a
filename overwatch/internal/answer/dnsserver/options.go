package dnsserver

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/zone"
)

// Options configures a Server.
type Options struct {
	// Listen is the addresses to serve on, each "address:port"; without an address, all of both families. Port 0 takes
	// any that is free.
	Listen []string
	// Inherited are sockets that are open already, as returned by the function of this name. For an address in Listen
	// they are used in place of new ones. New owns all of them.
	Inherited []*os.File
	// Keep is called with the sockets that New has opened itself, before any is read. It may keep copies, to pass them
	// to the next process as Inherited. An error is logged. Nil: they are not kept.
	Keep func([]syscall.Conn) error
	// View returns the view to answer from. It is called at least once per query, by many goroutines, and must not
	// block.
	View func() *zone.View
	// NSID is the server's identifier for clients that ask for it (RFC 5001), at most MaxNSID octets; empty: none.
	NSID string
	// ClientSubnet: EDNS client subnet options count (RFC 7871); otherwise they are ignored.
	ClientSubnet bool
	// Why answers TXT questions for _why.<name>; nil: such questions are answered like others.
	Why Why
	// MaxUDPSize bounds responses over UDP, in octets, until SetMaxUDPSize changes it; 0: 1232.
	MaxUDPSize int
	// Decisions counts and samples the answers of steered names; nil: they are not counted.
	Decisions *decisions.Recorder
	// RateLimit bounds identical responses to one network.
	RateLimit RateLimit
	// Turns returns the turns with which a socket starts; nil: random ones.
	Turns func() *zone.Rotations
	// Now is the clock for cookies and the rate limit, and tells which queries are stale; nil means time.Now.
	Now        func() time.Time
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// MaxNSID bounds the length of a name server identifier, in octets, so that it fits into each response.
const MaxNSID = 64

func (o *Options) complete() error {
	if len(o.Listen) == 0 {
		return fmt.Errorf("%s: no address to serve DNS on; write one such as \":53\"", listenKey)
	}
	if len(o.NSID) > MaxNSID {
		return fmt.Errorf("name server identifier %q: at most %d octets", o.NSID, MaxNSID)
	}
	if o.MaxUDPSize == 0 {
		o.MaxUDPSize = udpSize
	}
	if o.Keep == nil {
		o.Keep = func([]syscall.Conn) error { return nil }
	}
	if o.Turns == nil {
		o.Turns = anywhere
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// anywhere returns turns that start at random, which clients cannot predict.
func anywhere() *zone.Rotations {
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails
	return zone.NewRotations(binary.NativeEndian.Uint64(seed[:8]), binary.NativeEndian.Uint64(seed[8:]))
}
