// Package dnsupdate changes records of the API by DNS UPDATE messages (RFC 2136) that are signed with TSIG (RFC 8945).
//
// A message is a change like any other: it is atomic, has an audit entry with the name of the key, and replicates. The
// node that receives a message evaluates its prerequisites. Package dnsserver passes the messages to a Handler; a
// Handler never delays answers to queries.
package dnsupdate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/tokenbucket"
)

// Bounds of DNS UPDATE messages.
const (
	// MaxWaiting is the maximum number of UDP messages that wait. Further messages are dropped; clients repeat them.
	MaxWaiting = 256
	// maxCallers is the maximum number of TCP messages that wait. Further messages receive SERVFAIL.
	maxCallers = 64
	// maxRecords is the maximum number of records in the prerequisite and update sections of a message together.
	maxRecords = 1000
	// changeTimeout is the maximum duration of a change.
	changeTimeout = 5 * time.Second
	// perSecond and burst limit the messages of a key. Further messages receive SERVFAIL.
	perSecond, burst = 20, 200
	// maxPaced is the maximum number of keys with an individual rate limit.
	maxPaced = 4096
	// maxRemembered is the maximum number of remembered messages. A repeated message gets the first result again, and
	// changes nothing.
	maxRemembered = 16384
)

// Key is a TSIG key.
type Key struct {
	Algorithm string // such as hmac-sha256
	Secret    string // in base64
	Owner     string // owner of the records that messages with the key add; may be empty
	// Allows reports whether the key may change records with a name in canonical form and an owner.
	Allows func(name, owner string) bool
}

// Options configures a Handler. All fields except Now are required.
type Options struct {
	// HasKeys reports whether there are keys. It must not block.
	HasKeys func() bool
	// Key returns the valid key with a name in lower case, without the final dot. It must not block.
	Key func(name string) (Key, bool)
	// ZoneOf returns the apex of the served zone with a name. Both are in lower case and without the final dot.
	ZoneOf func(name string) (apex string, ok bool)
	// Served returns the records of a name and type in the answers of this node. exists reports whether the name exists.
	Served func(name string, rtype uint16) (records []dns.RR, exists bool)
	// Change makes an atomic change of records of the API for the key with a name, and returns when the answers contain
	// the change; see operations.ChangeRecords.
	Change func(ctx context.Context, key string, from netip.Addr,
		edit func(*definitions.Set) (operations.RecordEdit, error)) error
	// ChallengeExpiry returns the lifetime of records of names that begin with _acme-challenge; 0: no end.
	ChallengeExpiry func() time.Duration
	Registerer      prometheus.Registerer
	Logger          zerolog.Logger
	Now             func() time.Time // nil is time.Now
}

// Handler answers DNS UPDATE messages. Its methods are safe for concurrent use.
type Handler struct {
	o       Options
	waiting chan job
	callers chan struct{} // has an element for each caller of Answer
	dropped atomic.Uint64
	results [rcodes]atomic.Uint64

	mu     sync.Mutex // one message at a time
	paces  *tokenbucket.Keyed[string]
	recent recent
}

// rcodes is the number of response codes that Results counts.
const rcodes = dns.RcodeNotZone + 1

// job is a UDP message and the function that sends its response.
type job struct {
	query []byte
	from  netip.Addr
	send  func(reply []byte)
}

// New returns a Handler.
func New(o Options) (*Handler, error) {
	if o.HasKeys == nil || o.Key == nil || o.ZoneOf == nil || o.Served == nil || o.Change == nil ||
		o.ChallengeExpiry == nil || o.Registerer == nil {
		return nil, errors.New("dnsupdate: a required option is not set")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Handler{o: o, waiting: make(chan job, MaxWaiting), callers: make(chan struct{}, maxCallers),
		paces: tokenbucket.NewKeyed[string](maxPaced), recent: newRecent()}
	if err := o.Registerer.Register(newCollector(h)); err != nil {
		return nil, fmt.Errorf("register the metrics of DNS UPDATE: %w", err)
	}
	return h, nil
}

// IsEnabled reports whether there are keys. It does not block.
func (h *Handler) IsEnabled() bool { return h.o.HasKeys() }

// ServedBy returns the function Served of Options for the current view of a node. Wildcards do not count.
func ServedBy(view func() *zone.View) func(name string, rtype uint16) (records []dns.RR, exists bool) {
	return func(name string, rtype uint16) ([]dns.RR, bool) {
		v := view()
		if !v.Owns(name) {
			return nil, false
		}
		turns := zone.NewRotations(rand.Uint64(), rand.Uint64())
		return v.Resolve(name, rtype, false, netip.Addr{}, turns).Answer, true
	}
}

// HasKey reports whether a key with a name exists. It does not block, so that the server can refuse messages with other
// keys immediately.
func (h *Handler) HasKey(name string) bool {
	_, has := h.o.Key(keyName(name))
	return has
}

// Submit passes a UDP message, which Run answers by send. It returns false if too many messages wait. It does not block
// and owns query.
func (h *Handler) Submit(query []byte, from netip.Addr, send func(reply []byte)) bool {
	select {
	case h.waiting <- job{query, from, send}:
		return true
	default:
		h.dropped.Add(1)
		return false
	}
}

// Run answers the messages of Submit until ctx ends. It returns nil.
func (h *Handler) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case one := <-h.waiting:
			if reply := h.answer(ctx, one.query, one.from); reply != nil {
				one.send(reply)
			}
		}
	}
}

// Answer returns the response to a TCP message; nil if the message is no DNS message. It blocks until the change is
// made, and may change the octets of query.
func (h *Handler) Answer(ctx context.Context, query []byte, from netip.Addr) []byte {
	select {
	case h.callers <- struct{}{}:
		defer func() { <-h.callers }()
		return h.answer(ctx, query, from)
	default:
		h.dropped.Add(1)
		return unsigned(query, dns.RcodeServerFailure)
	}
}
