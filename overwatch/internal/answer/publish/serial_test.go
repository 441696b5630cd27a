package publish // inside: it uses plan, version and zonePlan

import (
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestSerialAfter_IsTheTimeOrTheNext(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	for _, c := range []struct {
		name string
		last uint32
		now  time.Time
		want uint32
	}{
		{"the first", 0, at(1_700_000_000), 1_700_000_000},
		{"time has passed", 1_699_999_999, at(1_700_000_000), 1_700_000_000},
		{"in the same second", 1_700_000_000, at(1_700_000_000), 1_700_000_001},
		{"ahead of the time", 1_700_000_100, at(1_700_000_000), 1_700_000_101},
		{"the clock went back by a year", 1_700_000_000, at(1_668_000_000), 1_700_000_001},
		{"the first after 2038", 0, at(1 << 31), 1 << 31},
		{"from before 2038 to after", 1<<31 - 1, at(1 << 31), 1 << 31},
		{"at the end of the numbers", 1<<32 - 1, at(1<<32 - 1), 0},
		{"beyond them", 1<<32 - 1, at(1<<32 + 5), 5},
	} {
		if got := SerialAfter(c.last, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// The test covers a zone that is removed and added within one second, and a zone after a restart, both after changes
// that made serials exceed the current time.
func TestSerials_NeverGoBack(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	p := &Publisher{floor: 1_700_000_060}
	change := func(apexes []string, names ...string) map[string]uint32 {
		next := &plan{byApex: map[string]*zonePlan{}, relaid: true}
		serials := map[string]uint32{}
		for _, apex := range apexes {
			z := &zonePlan{plan: next}
			z.Apex, z.SOA = apex, &dns.SOA{Hdr: dns.RR_Header{Name: apex, Rrtype: dns.TypeSOA, Class: dns.ClassINET}}
			z.version.names.addAll(names, 1)
			z.number(p.planned(apex), p.floor, now)
			next.zones, next.byApex[apex], serials[apex] = append(next.zones, z), z, z.version.serial
		}
		p.numbered(next)
		p.plan = next
		return serials
	}
	const a, b = "a.example.", "b.example."
	first, second := change([]string{a, b}, a), change([]string{a}, a, "b.a.example.")
	if first[a] != 1_700_000_061 || second[a] != first[a]+1 || p.Serial() != second[a] {
		t.Fatalf("after a restart %d, then %d, and %d is the latest", first[a], second[a], p.Serial())
	}
	change(nil)
	if again := change([]string{a, b}, a); again[a] <= second[a] || again[b] <= first[b] {
		t.Errorf("the zones came back with %d after %d and %d after %d", again[a], second[a], again[b], first[b])
	}
}

// Serials wrap around (RFC 1982): their distance determines the later of two serials.
func TestSerials_TheLaterIsLaterRoundTheEndToo(t *testing.T) {
	const last = 1<<32 - 1
	for _, c := range []struct{ a, b, later uint32 }{{1, 2, 2}, {2, 1, 2}, {last, 1, 1}, {1, last, 1}, {0, last, last},
		{last, 0, last}, {0, 0, 0}} {
		if got := laterSerial(c.a, c.b); got != c.later {
			t.Errorf("of %d and %d the later is %d, want %d", c.a, c.b, got, c.later)
		}
	}
}
