package publish

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/miekg/dns"
)

// version determines the SOA serial of a zone: the time of the last change of its names and records in seconds, and
// always greater than the previous serial (RFC 1982). Health changes do not change it: the zone is not transferred, and
// its SOA record then needs no new signature.
//
// With several changes per second, serials run ahead of the time. A new zone starts above Options.Serial and the
// serials of removed zones, so that serials never decrease after a restart or when a removed zone returns.
type version struct {
	records [sha256.Size]byte // SOA and static records
	names   sum               // load-balanced names
	added   sum               // records of the API
	serial  uint32
}

// sum is an order-independent hash of a set of names or records.
type sum [4]uint64

// add adds a name or record; with times -1 it removes it.
func (s *sum) add(name string, times int) {
	hash := sha256.Sum256([]byte(name))
	for i := range s {
		s[i] += uint64(times) * binary.BigEndian.Uint64(hash[8*i:])
	}
}

// addAll is add for several names.
func (s *sum) addAll(names []string, times int) {
	for _, name := range names {
		s.add(name, times)
	}
}

// number sets the serial of a zone with a known sum. was is the zone in the previous plan, or nil.
func (z *zonePlan) number(was *zonePlan, floor uint32, now time.Time) {
	z.SOA.Serial = 0
	if z.hasStatic(was) {
		z.version.records = was.version.records
	} else {
		z.version.records = hashOf(append([]dns.RR{z.SOA}, z.Records...))
	}
	switch {
	case was == nil:
		z.version.serial = SerialAfter(floor, now)
	case was.version.records == z.version.records && was.version.names == z.version.names &&
		was.version.added == z.version.added:
		z.version.serial = was.version.serial
	default:
		z.version.serial = SerialAfter(was.version.serial, now)
	}
	z.SOA.Serial = z.version.serial
}

// hasStatic reports whether the zone shares its static records with the previous plan and has an equal SOA record,
// except for the serial.
func (z *zonePlan) hasStatic(was *zonePlan) bool {
	if was == nil || len(z.Records) != len(was.Records) || len(z.Records) > 0 && &z.Records[0] != &was.Records[0] {
		return false
	}
	soa := *was.SOA
	soa.Serial = z.SOA.Serial
	return soa == *z.SOA
}

func hashOf(records []dns.RR) [sha256.Size]byte {
	hash := sha256.New()
	for _, rr := range records {
		hash.Write([]byte(rr.String()))
		hash.Write([]byte{'\n'})
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// SerialAfter returns the next serial of a zone that changes now: the time in seconds, or last + 1 if the time is not
// later (RFC 1982). last is 0 if the zone had none.
func SerialAfter(last uint32, now time.Time) uint32 {
	if serial := uint32(now.Unix()); last == 0 || int32(serial-last) > 0 {
		return serial
	}
	return last + 1
}

// laterSerial returns the later of two serials; 0 means no serial.
func laterSerial(a, b uint32) uint32 {
	if a == 0 || b != 0 && int32(b-a) > 0 {
		return b
	}
	return a
}

// Serial returns the latest serial of all zones. It is safe for concurrent use.
func (p *Publisher) Serial() uint32 { return p.latest.Load() }

// numbered records the serials of a plan that becomes current.
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
