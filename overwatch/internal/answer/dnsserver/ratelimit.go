package dnsserver

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"slices"
	"sync/atomic"

	"gslb.internal/overwatch/internal/state/config"
)

// RateLimit bounds the identical responses that one network is sent over UDP, where the source address of a query may
// be forged and its owner be flooded with answers. The zero RateLimit bounds nothing.
type RateLimit struct {
	// PerSecond bounds the identical responses to an IPv4 /24 or an IPv6 /56 in a second; 0: no bound.
	PerSecond int
	// Slip: above the bound every Slip-th response is sent without records and with the TC flag, so that an honest client
	// asks again over TCP, and the others are dropped. 0: all are dropped.
	Slip int
	// Exempt are networks whose clients are not limited.
	Exempt []netip.Prefix
}

// RateLimitOf returns the bound that a configuration sets.
func RateLimitOf(cfg *config.Config) RateLimit {
	l := cfg.DNS.RateLimit
	return RateLimit{PerSecond: l.ResponsesPerSecond, Slip: l.Slip, Exempt: l.ExemptCIDRs}
}

// Lengths of the prefixes that count as one client.
const (
	limitedBits4 = 24
	limitedBits6 = 56
)

// A limiter's counters: a count-min sketch (Cormode and Muthukrishnan, 2005). Each response is counted in one cell of
// each row, and its count is that of its emptiest cell. So memory is fixed, and a client is taken for a flood by
// mistake only if it shares its cells with floods in all rows.
const (
	limiterRows    = 2
	limiterColumns = 1 << 15 // a power of two; 8 octets each, so half a MiB in all
)

// limiter counts the responses of all responders. Each responder has a copy, with the current second.
type limiter struct {
	RateLimit
	seed   maphash.Seed
	second uint32
	cells  *[limiterRows][limiterColumns]limiterCell // shared; nil: nothing is limited
}

// limiterCell holds a second in its upper half, and the number of responses counted in that second in its lower half.
type limiterCell struct{ atomic.Uint64 }

func newLimiter(limit RateLimit) limiter {
	l := limiter{RateLimit: limit}
	if limit.PerSecond > 0 {
		l.seed, l.cells = maphash.MakeSeed(), new([limiterRows][limiterColumns]limiterCell)
	}
	return l
}

// add counts a response and returns the cell's count in this second. When several responders begin a second at once,
// one response may not be counted.
func (c *limiterCell) add(second uint32) uint32 {
	if seen := c.Load(); uint32(seen>>32) != second {
		if c.CompareAndSwap(seen, uint64(second)<<32|1) {
			return 1
		}
	}
	return uint32(c.Add(1))
}

// tick sets the limiter's second, once for each batch of queries.
func (r *responder) tick() {
	if r.limiter.cells != nil {
		r.limiter.second = uint32(r.now().Unix())
	}
}

// action is a decision of the rate limit on a response.
type action uint8

const (
	sendIt action = iota
	truncateIt
	dropIt
)

// limit counts a response to a query, with the type of its first record, and returns what to do with it. Loopback
// addresses are not limited, since they cannot be forged from elsewhere.
func (l *limiter) limit(q *request, s status, kind uint16) action {
	if l.cells == nil || q.tcp || q.from.IsLoopback() {
		return sendIt
	}
	excess := l.excess(l.hash(q, s, kind))
	if excess == 0 || slices.ContainsFunc(l.Exempt, func(p netip.Prefix) bool { return p.Contains(q.from) }) {
		return sendIt
	}
	if l.Slip > 0 && excess%uint32(l.Slip) == 0 {
		return truncateIt
	}
	return dropIt
}

// hash returns a hash of the client's network and the response. Responses with records differ by name and by the type
// of the first record, which is the same for all questions to an alias; those without any by name only. All names that
// a wildcard answers count as one. Other responses count as the same for all names: else random names, or types, would
// get around the limit.
func (l *limiter) hash(q *request, s status, kind uint16) uint64 {
	var key [8 + 8 + 4]byte
	if q.from.Is4() {
		a := q.from.As4()
		copy(key[:limitedBits4/8], a[:])
	} else {
		a := q.from.As16()
		copy(key[:limitedBits6/8], a[:])
	}
	key[7] = byte(s)
	if s == success || s == noData {
		owner := q.question.Owner()
		binary.NativeEndian.PutUint64(key[8:], maphash.Bytes(l.seed, owner))
		if s == success {
			binary.NativeEndian.PutUint16(key[16:], kind)
		}
		if len(owner) < len(q.question.Name) {
			key[18] = 1
		}
	}
	return maphash.Bytes(l.seed, key[:])
}

// excess counts a response and returns by how many the responses of this second are above the bound.
func (l *limiter) excess(hash uint64) uint32 {
	count := ^uint32(0)
	for row := range l.cells {
		count = min(count, l.cells[row][hash%limiterColumns].add(l.second))
		hash >>= 32
	}
	if limit := uint32(l.PerSecond); count > limit {
		return count - limit
	}
	return 0
}

// limited applies the rate limit to a response. It returns the response, one without records, or nil to drop it.
func (r *responder) limited(reply []byte, s status) []byte {
	if reply == nil {
		return nil
	}
	what := r.limiter.limit(r.request, s, firstType(reply, r.request))
	if what == sendIt || r.knownClient() {
		return reply
	}
	if what == dropIt {
		r.counts.limitedDropped.Add(1)
		return nil
	}
	r.counts.limitedTruncated.Add(1)
	h := header(reply)
	if h.answers() == 0 && h.authority() == 0 {
		return reply // it has no records
	}
	rcode, questions := int(h.flags()&0xF), h.questions()
	flags, additional := h.flags()&flagAuthoritative|flagTruncated, uint16(0)
	reply = reply[:r.request.end]
	if r.request.edns.present {
		additional = 1
		reply = r.appendOPT(reply, rcode, 0)
	}
	header(reply).reply(rcode, flags, questions, 0, 0, additional)
	return reply
}

// firstType returns the type of the first record of a reply; without one, that of the question.
func firstType(reply []byte, q *request) uint16 {
	const pointer = 0xC0 // two octets, the question's name (RFC 1035 section 4.1.4)
	if header(reply).answers() > 0 && len(reply) >= q.end+4 && reply[q.end] >= pointer {
		return binary.BigEndian.Uint16(reply[q.end+2:])
	}
	return q.question.Type
}

// knownClient reports whether the query came with a cookie that this server has given to the sender's address, which is
// then not forged.
func (r *responder) knownClient() bool {
	e := &r.request.edns
	return e.present && e.serverCookie != nil &&
		validCookie(&r.secret, e.cookie, e.serverCookie, r.request.from, uint32(r.now().Unix()))
}
