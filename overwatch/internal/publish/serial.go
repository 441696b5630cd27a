package publish

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/miekg/dns"
)

// serials gives each zone its SOA serial: the time, in seconds, at which its content last changed, and always more than the last
// (RFC 1982). What counts are the zone's names and records. A change of health does not: it chooses among answers that the
// zone has all the time, nobody transfers the zone, and a signed SOA need not be signed again for it.
type serials map[string]version

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

// number sets the serial of a zone and returns the version to remember.
func (s serials) number(z *zonePlan, now time.Time) version {
	z.SOA.Serial = 0
	hash := sha256.New()
	for _, rr := range append([]dns.RR{z.SOA}, z.Records...) {
		hash.Write([]byte(rr.String()))
		hash.Write([]byte{'\n'})
	}
	next := version{records: [sha256.Size]byte(hash.Sum(nil))}
	for _, name := range z.Steered {
		next.names.add(name, 1)
	}
	next = s.follow(z.Apex, next, now)
	z.SOA.Serial = next.serial
	return next
}

// follow gives the next version of a zone its serial.
func (s serials) follow(apex string, next version, now time.Time) version {
	last, ok := s[apex]
	next.serial = uint32(now.Unix())
	if ok && last.records == next.records && last.names == next.names {
		next.serial = last.serial
	} else if ok && int32(next.serial-last.serial) <= 0 {
		next.serial = last.serial + 1
	}
	return next
}
