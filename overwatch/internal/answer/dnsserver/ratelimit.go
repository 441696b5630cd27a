package dnsserver

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"slices"
	"sync/atomic"
)

// RateLimit bounds how many identical responses one network is sent over UDP, where the sender of a query may be made
// up and its victim be flooded with answers. The zero RateLimit bounds nothing.
type RateLimit struct {
	// PerSecond is how many identical responses an IPv4 /24 or an IPv6 /56 gets in a second; 0 for any number.
	PerSecond int
	// Slip says what becomes of those above: every Slip-th is sent without records and with the TC flag, so that an honest
	// client comes back over TCP, and the rest is dropped. 0 drops all.
	Slip int
	// Exempt is networks whose clients are not limited.
	Exempt []netip.Prefix
}

// Lengths of the prefixes that count as one client.
const (
	limitedBits4 = 24
	limitedBits6 = 56
)

// A limiter's counters: a count-min sketch (Cormode and Muthukrishnan, 2005). Each response is counted in one cell of
// each row and has come as often as its emptiest cell says. So memory is fixed, whatever strangers send, and an
// innocent client is taken for a flood only if it shares its cells with floods in all rows.
const (
	limiterRows    = 2
	limiterColumns = 1 << 15 // a power of two; 8 octets each, so half a MiB in all
)

// limiter counts the responses of all responders, each of which has a copy with the time.
type limiter struct {
	RateLimit
	seed   maphash.Seed
	second uint32
	cells  *[limiterRows][limiterColumns]limiterCell // shared; nil: nothing is limited
}

// limiterCell is a second, in the upper half, and how many responses fell into the cell in it.
type limiterCell struct{ atomic.Uint64 }

func newLimiter(limit RateLimit) limiter {
	l := limiter{RateLimit: limit}
	if limit.PerSecond > 0 {
		l.seed, l.cells = maphash.MakeSeed(), new([limiterRows][limiterColumns]limiterCell)
	}
	return l
}

// add counts a response and returns how many it is in this second. A count that several begin at once may lose one.
func (c *limiterCell) add(second uint32) uint32 {
	if seen := c.Load(); uint32(seen>>32) != second {
		if c.CompareAndSwap(seen, uint64(second)<<32|1) {
			return 1
		}
	}
	return uint32(c.Add(1))
}

// tick tells the limiter the time, once for many queries.
func (r *responder) tick() {
	if r.limiter.cells != nil {
		r.limiter.second = uint32(r.now().Unix())
	}
}

// verdict is what becomes of a response.
type verdict uint8

const (
	sendIt verdict = iota
	truncateIt
	dropIt
)

// judge counts a response to a question and says what becomes of it. The addresses of loopback are not limited: nobody
// elsewhere can make them up.
func (l *limiter) judge(q *request, s status) verdict {
	if l.cells == nil || q.tcp || q.from.IsLoopback() {
		return sendIt
	}
	excess := l.excess(l.hash(q, s))
	if excess == 0 || slices.ContainsFunc(l.Exempt, func(p netip.Prefix) bool { return p.Contains(q.from) }) {
		return sendIt
	}
	if l.Slip > 0 && excess%uint32(l.Slip) == 0 {
		return truncateIt
	}
	return dropIt
}

// hash stands for the client's network and the response. Responses with records of the name differ by name and type.
// All names that a wildcard answers for are one, and other responses are the same for all names, or random names would
// get around the limit.
func (l *limiter) hash(q *request, s status) uint64 {
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
		binary.NativeEndian.PutUint16(key[16:], q.question.Type)
		if len(owner) < len(q.question.Name) {
			key[18] = 1
		}
	}
	return maphash.Bytes(l.seed, key[:])
}

// excess counts a response and returns by how many this second's are too many.
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

// limited is respond's last step over UDP: the response, what is sent in its place, or nil.
func (r *responder) limited(reply []byte, s status) []byte {
	if reply == nil {
		return nil
	}
	what := r.limiter.judge(r.request, s)
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
		return reply // has no records, and is as short as can be
	}
	rcode, questions := int(h.flags()&0xF), h.questions()
	flags, additional := h.flags()&flagAuthoritative|flagTruncated, uint16(0)
	reply = reply[:r.request.end]
	if r.request.edns.present {
		additional = 1
		reply = r.appendOPT(reply, rcode)
	}
	header(reply).reply(rcode, flags, questions, 0, 0, additional)
	return reply
}

// knownClient says whether the query came with a cookie that this server gave to its sender, which is therefore who
// it says it is.
func (r *responder) knownClient() bool {
	e := &r.request.edns
	return e.present && e.serverCookie != nil &&
		validCookie(&r.secret, e.cookie, e.serverCookie, r.request.from, uint32(r.now().Unix()))
}
