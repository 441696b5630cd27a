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

// Options is what a Server needs.
type Options struct {
	// Listen is the addresses to serve on, each "address:port"; without an address, all of both families. Port 0 takes
	// any that is free.
	Listen []string
	// Inherited is sockets that are open already, as the function of this name returns them. Those of an address in Listen
	// are served instead of ones of our own; New takes all of them over.
	Inherited []*os.File
	// Keep is given the sockets that New has opened itself, before one of them is read; who keeps copies can pass them to
	// the next process as Inherited. An error is logged. Nil for nobody.
	Keep func([]syscall.Conn) error
	// View returns the view to answer from. It is called once per query from many goroutines and must not block.
	View func() *zone.View
	// NSID is told to who asks for it (RFC 5001); empty for nobody. At most MaxNSID octets.
	NSID string
	// ClientSubnet makes EDNS client subnet options understood (RFC 7871); otherwise they are ignored.
	ClientSubnet bool
	// Why answers TXT questions for _why.<name>; nil: nobody does.
	Why Why
	// MaxUDPSize bounds responses over UDP, in octets, until SetMaxUDPSize changes it; 0: 1232.
	MaxUDPSize int
	// Decisions keeps what became of steered queries; nil: nobody does.
	Decisions *decisions.Recorder
	// RateLimit bounds identical responses to one network.
	RateLimit RateLimit
	// Turns is where each socket begins to take turns; nil: anywhere, by chance.
	Turns func() *zone.Turns
	// Now is the clock for cookies and the rate limit; nil means time.Now.
	Now        func() time.Time
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// MaxNSID is how long a name server identifier may be, so that a response always has room for it.
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

// anywhere begins all schedules at places that nobody can tell.
func anywhere() *zone.Turns {
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails
	return zone.NewTurns(binary.NativeEndian.Uint64(seed[:8]), binary.NativeEndian.Uint64(seed[8:]))
}
