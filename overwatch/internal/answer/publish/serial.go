package publish

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/miekg/dns"
)

// version gives a zone its SOA serial: the time, in seconds, at which its content last changed, and always more than
// the last (RFC 1982). What counts are the zone's names and records. A change of health does not: it chooses among
// answers that the zone has all the time, nobody transfers the zone, and a signed SOA need not be signed again for it.
//
// Many changes in a second take serials ahead of the time. So that neither a restart nor a zone that comes back takes
// them back, a zone that was not there begins above a floor: Options.Serial, and the serials of zones that have gone.
type version struct {
	records [sha256.Size]byte
	names   sum
	serial  uint32
}

// sum is of steered names. It is the same in whatever order they come and go.
type sum [4]uint64

// add adds a name, or with -1 takes it away.
func (s *sum) add(name string, times int) {
	hash := sha256.Sum256([]byte(name))
	for i := range s {
		s[i] += uint64(times) * binary.BigEndian.Uint64(hash[8*i:])
	}
}

// addAll is add for several.
func (s *sum) addAll(names []string, times int) {
	for _, name := range names {
		s.add(name, times)
	}
}

// number gives a zone, whose names are summed up, the serial that follows that of the plan before; was may be nil.
func (z *zonePlan) number(was *zonePlan, floor uint32, now time.Time) {
	z.SOA.Serial = 0
	hash := sha256.New()
	for _, rr := range append([]dns.RR{z.SOA}, z.Records...) {
		hash.Write([]byte(rr.String()))
		hash.Write([]byte{'\n'})
	}
	z.version.records = [sha256.Size]byte(hash.Sum(nil))
	switch {
	case was == nil:
		z.version.serial = SerialAfter(floor, now)
	case was.version.records == z.version.records && was.version.names == z.version.names:
		z.version.serial = was.version.serial
	default:
		z.version.serial = SerialAfter(was.version.serial, now)
	}
	z.SOA.Serial = z.version.serial
}

// SerialAfter is the serial of a zone that changes now and had the given one, 0 for none: the time in seconds, or the
// one after where the time is no later (RFC 1982).
func SerialAfter(last uint32, now time.Time) uint32 {
	if serial := uint32(now.Unix()); last == 0 || int32(serial-last) > 0 {
		return serial
	}
	return last + 1
}

// laterSerial is the later of two serials, 0 for none.
func laterSerial(a, b uint32) uint32 {
	if a == 0 || b != 0 && int32(b-a) > 0 {
		return b
	}
	return a
}

// Serial is the latest serial that a zone has had. It may be called from any goroutine.
func (p *Publisher) Serial() uint32 { return p.latest.Load() }

// numbered takes the serials of a plan that comes into force.
func (p *Publisher) numbered(next *plan) {
	for _, z := range next.zones {
		if z.plan == next {
			p.latest.Store(laterSerial(p.latest.Load(), z.version.serial))
		}
	}
	if next.relaid && p.plan != nil {
		for _, z := range p.plan.zones {
			if next.byApex[z.Apex] == nil {
				p.floor = laterSerial(p.floor, z.version.serial)
			}
		}
	}
}
