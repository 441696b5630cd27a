package dnsserver // inside: it uses newRateLimiter, responder and udpSize

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// limitedResponder permits three identical responses per second. It truncates every other response above the limit.
func limitedResponder(t testing.TB) *responder {
	r := testResponder(testView(t))
	r.rateLimiter = newRateLimiter(RateLimit{PerSecond: 3, Slip: 2,
		Exempt: []netip.Prefix{netip.MustParsePrefix("198.51.100.7/32")}})
	r.updateSecond()
	return r
}

// outcomes sends the given number of queries, and returns + for a complete answer, T for a truncated answer and - for
// no answer.
func outcomes(t *testing.T, r *responder, from string, tcp bool, times int, packet func(i int) []byte) (out string) {
	t.Helper()
	for i := range times {
		reply := r.respond(packet(i), netip.MustParseAddr(from), tcp, make([]byte, 0, udpSize))
		switch {
		case reply == nil:
			out += "-"
		case read(t, reply).Truncated:
			out += "T"
		default:
			out += "+"
		}
	}
	return out
}

func TestRateLimit_BoundsIdenticalResponsesToOneNetwork(t *testing.T) {
	same := func(int) []byte { return query(t, "app.gslb.test.", dns.TypeA) }
	names := func(i int) []byte { return query(t, fmt.Sprintf("r%d.gslb.test.", i), dns.TypeA) }
	wild := func(i int) []byte { return query(t, fmt.Sprintf("r%d.wild.gslb.test.", i), dns.TypeA) }
	types := func(i int) []byte { return query(t, "app.gslb.test.", 256+uint16(i)) }
	aliases := func(i int) []byte { return query(t, "out.gslb.test.", 256+uint16(i)) }
	for _, c := range []struct {
		promise, from string
		tcp           bool
		packet        func(int) []byte
		want          string
	}{
		{"above the limit every second is truncated, the rest dropped", "203.0.113.9", false, same, "+++-T-T-"},
		{"names that do not exist count together", "203.0.113.9", false, names, "+++-T-T-"},
		{"so do names that a wildcard answers for", "203.0.113.9", false, wild, "+++-T-T-"},
		{"so do types that a name does not have", "203.0.113.9", false, types, "+++-T-T-"},
		{"so does an alias, whatever is asked for", "203.0.113.9", false, aliases, "+++-T-T-"},
		{"IPv6", "2001:db8:0:100::1", false, same, "+++-T-T-"},
		{"TCP is not limited", "203.0.113.9", true, same, "++++++++"},
		{"loopback is not limited", "127.0.0.1", false, same, "++++++++"},
		{"an exempt network is not limited", "198.51.100.7", false, same, "++++++++"},
	} {
		t.Run(c.promise, func(t *testing.T) {
			if got := outcomes(t, limitedResponder(t), c.from, c.tcp, 8, c.packet); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRateLimit_OneClientsFloodIsNotAnothers(t *testing.T) {
	r := limitedResponder(t)
	same := func(int) []byte { return query(t, "app.gslb.test.", dns.TypeA) }
	outcomes(t, r, "203.0.113.9", false, 100, same)
	for from, want := range map[string]string{
		"203.0.113.200":   "-", // the same /24
		"203.0.112.9":     "+",
		"2001:db8::cb:71": "+",
	} {
		if got := outcomes(t, r, from, false, 1, same); got != want && !(want == "-" && got == "T") {
			t.Errorf("from %s: %s, want %s", from, got, want)
		}
	}
	if got := outcomes(t, r, "203.0.113.9", false, 1,
		func(int) []byte { return query(t, "v6.gslb.test.", dns.TypeAAAA) }); got != "+" {
		t.Errorf("another answer to the same network: %s, want +", got)
	}
}

// The limit applies to the node: the limiter counts the queries of all sockets together.
func TestRateLimit_IsOneForAllSockets(t *testing.T) {
	v := testView(t)
	s := new(Server)
	b := sharedSettings{view: func() *zone.View { return v },
		rateLimiterTemplate: newRateLimiter(RateLimit{PerSecond: 4}), now: time.Now,
		newRotations: func() *zone.Rotations { return zone.NewRotations(1, 1) }}
	first, second := s.newResponder(b), s.newResponder(b)
	same := func(int) []byte { return query(t, "app.gslb.test.", dns.TypeA) }
	got := outcomes(t, first, "203.0.113.9", false, 2, same) + outcomes(t, second, "203.0.113.9", false, 3, same) +
		outcomes(t, first, "203.0.113.9", false, 1, same)
	if got != "++++--" {
		t.Errorf("got %s, want ++++--", got)
	}
}

func TestRateLimit_EndsWithItsSecond(t *testing.T) {
	r := limitedResponder(t)
	now := time.Unix(1_000_000, 0)
	r.now = func() time.Time { return now }
	same := func(int) []byte { return query(t, "app.gslb.test.", dns.TypeA) }
	r.updateSecond()
	outcomes(t, r, "203.0.113.9", false, 50, same)
	now = now.Add(time.Second)
	r.updateSecond()
	if got := outcomes(t, r, "203.0.113.9", false, 4, same); got != "+++-" {
		t.Errorf("in the next second %s, want +++-", got)
	}
}

func TestRateLimit_CookieOfOursExempts(t *testing.T) {
	r := limitedResponder(t)
	now := time.Unix(1_000_000, 0)
	r.now = func() time.Time { return now }
	const client = "0102030405060708"
	from := netip.MustParseAddr("203.0.113.9")
	fetch := query(t, "app.gslb.test.", dns.TypeA,
		edns0(udpSize, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: client}))
	first := read(t, r.respond(fetch, from, false, make([]byte, 0, udpSize)))
	var both string
	for _, o := range first.IsEdns0().Option {
		if c, ok := o.(*dns.EDNS0_COOKIE); ok {
			both = c.Cookie
		}
	}
	with := func(cookie string) func(int) []byte {
		packet := query(t, "app.gslb.test.", dns.TypeA,
			edns0(udpSize, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: cookie}))
		return func(int) []byte { return packet }
	}
	outcomes(t, r, "203.0.113.9", false, 50, with(client))
	forged := both[:len(both)-1] + string("0123456789abcdef"[(both[len(both)-1]+1)%16])
	for _, c := range []struct {
		promise, from, cookie string
		later                 time.Duration
		exempt                bool
	}{
		{"as it was given", "203.0.113.9", both, 0, true},
		{"an hour later", "203.0.113.9", both, time.Hour, true},
		{"still later", "203.0.113.9", both, time.Hour + time.Second, false},
		{"from the future", "203.0.113.9", both, -10 * time.Minute, false},
		{"to another client", "203.0.113.10", both, 0, false},
		{"forged", "203.0.113.9", forged, 0, false},
		{"the client's part alone", "203.0.113.9", client, 0, false},
	} {
		now = time.Unix(1_000_000, 0).Add(c.later)
		if got := outcomes(t, r, c.from, false, 4, with(c.cookie)); (got == "++++") != c.exempt {
			t.Errorf("%s: %s, exempt: want %t", c.promise, got, c.exempt)
		}
	}
}

// The benchmark measures the cost of the limiter for a query that is not from loopback, and checks that the limiter
// does not allocate.
func TestRateLimit_AllocatesNothing(t *testing.T) {
	r := limitedResponder(t)
	packet, out := query(t, "app.gslb.test.", dns.TypeA), make([]byte, 0, udpSize)
	from := netip.MustParseAddr("203.0.113.9")
	if n := testing.AllocsPerRun(1000, func() { r.respond(packet, from, false, out) }); n != 0 {
		t.Errorf("%v allocations per query, want none", n)
	}
}

func BenchmarkRateLimit(b *testing.B) {
	packet, out := query(b, "app.gslb.test.", dns.TypeA), make([]byte, 0, udpSize)
	for _, from := range []string{"127.0.0.1", "203.0.113.9"} {
		b.Run(from, func(b *testing.B) {
			r := testResponder(testView(b))
			r.rateLimiter = newRateLimiter(RateLimit{PerSecond: 1 << 30})
			r.updateSecond()
			address := netip.MustParseAddr(from)
			b.ReportAllocs()
			for b.Loop() {
				r.respond(packet, address, false, out)
			}
		})
	}
}
