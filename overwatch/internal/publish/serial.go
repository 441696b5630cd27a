package publish

import (
	"crypto/sha256"
	"time"

	"github.com/miekg/dns"
)

// serials gives each zone its SOA serial: the time, in seconds, at which its content last changed, and always more than the last
// (RFC 1982). What counts are the zone's names and records. A change of health does not: it chooses among answers that the
// zone has all the time, nobody transfers the zone, and a signed SOA need not be signed again for it.
type serials map[string]version

type version struct {
	digest [sha256.Size]byte
	serial uint32
}

// number sets the serial of a zone and returns the version to remember.
func (s serials) number(z *zonePlan, now time.Time) version {
	z.SOA.Serial = 0
	hash := sha256.New()
	for _, rr := range append([]dns.RR{z.SOA}, z.Records...) {
		hash.Write([]byte(rr.String()))
		hash.Write([]byte{'\n'})
	}
	for _, name := range z.Steered {
		hash.Write([]byte(name))
		hash.Write([]byte{'\n'})
	}
	next := version{digest: [sha256.Size]byte(hash.Sum(nil)), serial: uint32(now.Unix())}
	if last, ok := s[z.Apex]; ok {
		if last.digest == next.digest {
			next.serial = last.serial
		} else if int32(next.serial-last.serial) <= 0 {
			next.serial = last.serial + 1
		}
	}
	z.SOA.Serial = next.serial
	return next
}
