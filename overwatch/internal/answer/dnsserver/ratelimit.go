package dnsserver

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"slices"
	"sync/atomic"

	"gslb.internal/overwatch/internal/state/config"
)

// RateLimit limits the identical UDP responses to a network, because the source address of a query can be forged to
// flood a victim with responses. The zero RateLimit disables limiting.
type RateLimit struct {
	// PerSecond is the maximum rate of identical responses to an IPv4 /24 or IPv6 /56; 0 disables limiting.
	PerSecond int
	// Slip is the interval of truncated responses above the limit: each Slip-th response has no records and the TC
	// flag, so that a genuine client retries over TCP. Other responses are dropped. 0 drops all.
	Slip int
	// Exempt contains networks without a limit.
	Exempt []netip.Prefix
}

// RateLimitFromConfig returns the rate limit of a configuration.
func RateLimitFromConfig(cfg *config.Config) RateLimit {
	l := cfg.DNS.RateLimit
	return RateLimit{PerSecond: l.ResponsesPerSecond, Slip: l.Slip, Exempt: l.ExemptCIDRs}
}

// Prefix lengths of the networks that the rate limit distinguishes.
const (
	rateLimitBits4 = 24
	rateLimitBits6 = 56
)

// The counters are a count-min sketch (Cormode and Muthukrishnan, 2005). A response is counted in one cell of each row;
// its count is the minimum of these cells. The memory is fixed, and a client is limited by mistake only if floods share
// its cells in all rows.
const (
	sketchRows    = 2
	sketchColumns = 1 << 15 // a power of two; with 8 octets per cell, the sketch has 512 KiB
)

// rateLimiter counts the responses of all responders. Each responder has a copy with its current second.
type rateLimiter struct {
	RateLimit
	seed   maphash.Seed
	second uint32
	cells  *[sketchRows][sketchColumns]sketchCell // shared by all copies; nil disables limiting
}

// sketchCell contains a second in its upper half, and the number of responses in this second in its lower half.
type sketchCell struct{ atomic.Uint64 }

func newRateLimiter(limit RateLimit) rateLimiter {
	l := rateLimiter{RateLimit: limit}
	if limit.PerSecond > 0 {
		l.seed, l.cells = maphash.MakeSeed(), new([sketchRows][sketchColumns]sketchCell)
	}
	return l
}

// add counts a response and returns the count of the cell in this second. If several responders start a second
// concurrently, one response can remain uncounted.
func (c *sketchCell) add(second uint32) uint32 {
	if seen := c.Load(); uint32(seen>>32) != second {
		if c.CompareAndSwap(seen, uint64(second)<<32|1) {
			return 1
		}
	}
	return uint32(c.Add(1))
}

// updateSecond sets the second of the rate limiter, once per batch.
func (r *responder) updateSecond() {
	if r.rateLimiter.cells != nil {
		r.rateLimiter.second = uint32(r.now().Unix())
	}
}

// rateLimitAction is the decision of the rate limiter for a response.
type rateLimitAction uint8

const (
	actionSend rateLimitAction = iota
	actionTruncate
	actionDrop
)

// check counts a response to a query and returns the action. kind is the type of the first record. Loopback addresses
// have no limit, because other hosts cannot forge them.
func (l *rateLimiter) check(q *request, s status, kind uint16) rateLimitAction {
	if l.cells == nil || q.tcp || q.from.IsLoopback() {
		return actionSend
	}
	excess := l.countExcess(l.hashResponse(q, s, kind))
	if excess == 0 || slices.ContainsFunc(l.Exempt, func(p netip.Prefix) bool { return p.Contains(q.from) }) {
		return actionSend
	}
	if l.Slip > 0 && excess%uint32(l.Slip) == 0 {
		return actionTruncate
	}
	return actionDrop
}

// hashResponse returns a hash of the client network and the response. Positive responses are distinguished by name and
// by the type of the first record, which is equal for all questions to an alias; NODATA responses by name only. All
// names that match one wildcard are identical. Other responses are identical for all names, so that random names or
// types cannot circumvent the limit.
func (l *rateLimiter) hashResponse(q *request, s status, kind uint16) uint64 {
	var key [8 + 8 + 4]byte
	if q.from.Is4() {
		a := q.from.As4()
		copy(key[:rateLimitBits4/8], a[:])
	} else {
		a := q.from.As16()
		copy(key[:rateLimitBits6/8], a[:])
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

// countExcess counts a response and returns the number of responses above the limit in this second.
func (l *rateLimiter) countExcess(hash uint64) uint32 {
	count := ^uint32(0)
	for row := range l.cells {
		count = min(count, l.cells[row][hash%sketchColumns].add(l.second))
		hash >>= 32
	}
	if limit := uint32(l.PerSecond); count > limit {
		return count - limit
	}
	return 0
}

// applyRateLimit applies the rate limit to a response. It returns the response, a truncated response, or nil to drop
// it.
func (r *responder) applyRateLimit(reply []byte, s status) []byte {
	if reply == nil {
		return nil
	}
	what := r.rateLimiter.check(r.request, s, firstType(reply, r.request))
	if what == actionSend || r.hasValidCookie() {
		return reply
	}
	if what == actionDrop {
		r.counts.rateLimitDropped.Add(1)
		return nil
	}
	r.counts.rateLimitTruncated.Add(1)
	h := header(reply)
	if h.answers() == 0 && h.authority() == 0 {
		return reply // the response has no records
	}
	rcode, questions := int(h.flags()&0xF), h.questions()
	flags, additional := h.flags()&flagAuthoritative|flagTruncated, uint16(0)
	reply = reply[:r.request.end]
	if r.request.edns.present {
		additional = 1
		reply = r.appendOPT(reply, rcode, 0)
	}
	header(reply).setReply(rcode, flags, questions, 0, 0, additional)
	return reply
}

// firstType returns the type of the first record of a reply, or the type of the question for a reply without answers.
func firstType(reply []byte, q *request) uint16 {
	const pointer = 0xC0 // compression pointer of two octets to the question's name (RFC 1035 section 4.1.4)
	if header(reply).answers() > 0 && len(reply) >= q.end+4 && reply[q.end] >= pointer {
		return binary.BigEndian.Uint16(reply[q.end+2:])
	}
	return q.question.Type
}

// hasValidCookie reports whether the query contains a server cookie that this server sent to the source address. The
// address is then genuine.
func (r *responder) hasValidCookie() bool {
	e := &r.request.edns
	return e.present && e.serverCookie != nil &&
		validCookie(&r.secret, e.cookie, e.serverCookie, r.request.from, uint32(r.now().Unix()))
}
