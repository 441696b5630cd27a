package publish

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

// The plan of a zone that went and came back within a second, and of one that a restart brought back, after changes that took serials
// ahead of the time.
func TestSerials_NeverGoBack(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	p := &Publisher{serials: serials{}, floor: 1_700_000_060}
	change := func(names ...string) uint32 {
		z := &zonePlan{}
		z.Apex, z.SOA, z.Steered = "a.example.", &dns.SOA{Hdr: dns.RR_Header{Name: "a.example.", Rrtype: dns.TypeSOA, Class: dns.ClassINET}}, names
		v := p.serials.number(z, p.floor, now)
		p.serials[z.Apex] = v
		p.numbered(p.serials)
		return v.serial
	}
	first, second := change("a.example."), change("a.example.", "b.a.example.")
	if first != 1_700_000_061 || second != first+1 || p.Serial() != second {
		t.Fatalf("after a restart %d, then %d, and %d is the latest", first, second, p.Serial())
	}
	p.numbered(nil, version{serial: first}) // of a zone that went with an earlier one
	p.numbered(nil, p.serials["a.example."])
	p.numbered(nil, version{serial: first})
	delete(p.serials, "a.example.")
	if again := change("a.example."); again <= second {
		t.Errorf("the zone came back with %d after %d", again, second)
	}
}

// Serials go round (RFC 1982): which of two is the later says their distance.
func TestSerials_TheLaterIsLaterRoundTheEndToo(t *testing.T) {
	const last = 1<<32 - 1
	for _, c := range []struct{ a, b, later uint32 }{{1, 2, 2}, {2, 1, 2}, {last, 1, 1}, {1, last, 1}, {0, last, last}, {last, 0, last}, {0, 0, 0}} {
		if got := laterSerial(c.a, c.b); got != c.later {
			t.Errorf("of %d and %d the later is %d, want %d", c.a, c.b, got, c.later)
		}
	}
}
