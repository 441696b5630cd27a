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
	// maxRemembered is the maximum number of remembered messages of a key: those that its rate permits while a message is
	// valid. A repeated message gets the first result again, and changes nothing.
	maxRemembered = 2*tsigFudge*perSecond + burst
	// failureLogInterval is the minimum time between log lines about messages with an invalid signature.
	failureLogInterval = time.Second
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
	// Types returns the types of the records of a name in the answers of this node: types with fixed records, and types
	// whose records a decision selects.
	Types func(name string) (fixed, balanced []uint16)
	// Served returns the fixed records of a name and type in the answers of this node.
	Served func(name string, rtype uint16) []dns.RR
	// Published returns the definitions of the API in these answers.
	Published func() *definitions.Set
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
	valid   chan change   // messages of waiting with a valid signature
	turn    chan struct{} // contains an element while a change is made
	callers chan struct{} // has an element for each caller of Answer
	dropped atomic.Uint64
	results [rcodes]atomic.Uint64

	loggedFailure atomic.Int64 // Unix time in ns of the last log line about an invalid signature

	// The holder of turn uses these fields.
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

// change is a UDP message with a valid signature, and the time of its arrival.
type change struct {
	job
	*verified
	arrived time.Time
}

// New returns a Handler.
func New(o Options) (*Handler, error) {
	if o.HasKeys == nil || o.Key == nil || o.ZoneOf == nil || o.Served == nil || o.Change == nil ||
		o.Types == nil || o.Published == nil || o.ChallengeExpiry == nil || o.Registerer == nil {
		return nil, errors.New("dnsupdate: a required option is not set")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Handler{o: o, waiting: make(chan job, MaxWaiting), callers: make(chan struct{}, maxCallers),
		valid: make(chan change, MaxWaiting), turn: make(chan struct{}, 1),
		paces: tokenbucket.NewKeyed[string](maxPaced), recent: recent{}}
	if err := o.Registerer.Register(newCollector(h)); err != nil {
		return nil, fmt.Errorf("register the metrics of DNS UPDATE: %w", err)
	}
	return h, nil
}

// IsEnabled reports whether there are keys. It does not block.
func (h *Handler) IsEnabled() bool { return h.o.HasKeys() }

// ServedBy returns the function Served of Options for the current view of a node. Wildcards do not count.
func ServedBy(view func() *zone.View) func(name string, rtype uint16) []dns.RR {
	return func(name string, rtype uint16) []dns.RR {
		turns := zone.NewRotations(rand.Uint64(), rand.Uint64())
		return view().Resolve(name, rtype, false, netip.Addr{}, turns).Answer
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

// Run answers the messages of Submit until ctx ends. It returns nil. Signatures are verified while a change waits for
// the disk, so that forged messages occupy no place of a valid message.
func (h *Handler) Run(ctx context.Context) error {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { h.makeChanges(ctx) })
	for {
		select {
		case <-ctx.Done():
			return nil
		case one := <-h.waiting:
			v, reply := h.verify(one.query, one.from)
			if v == nil {
				one.reply(reply)
				continue
			}
			select {
			case h.valid <- change{one, v, h.o.Now()}:
			default:
				h.dropped.Add(1)
			}
		}
	}
}

// makeChanges answers the messages of valid until ctx ends. It drops messages that waited longer than changeTimeout,
// because their clients repeat them.
func (h *Handler) makeChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case one := <-h.valid:
			if h.o.Now().Sub(one.arrived) > changeTimeout {
				h.dropped.Add(1)
				continue
			}
			one.reply(h.answer(ctx, one.verified))
		}
	}
}

func (j *job) reply(message []byte) {
	if message != nil {
		j.send(message)
	}
}

// Answer returns the response to a TCP message; nil if the message is no DNS message. It blocks until the change is
// made, and may change the octets of query.
func (h *Handler) Answer(ctx context.Context, query []byte, from netip.Addr) []byte {
	v, reply := h.verify(query, from)
	if v == nil {
		return reply
	}
	select {
	case h.callers <- struct{}{}:
		defer func() { <-h.callers }()
		return h.answer(ctx, v)
	default:
		h.dropped.Add(1)
		return unsigned(query, dns.RcodeServerFailure)
	}
}
