package zone

import (
	"fmt"

	"github.com/miekg/dns"
)

// set is an RRset that does not depend on health, packed and ready to be copied behind a question.
type set struct {
	rtype    uint16
	count    uint16
	ttl      uint32   // seconds
	records  []dns.RR // for the slow path
	wire     []byte
	pointers []uint16   // in wire, to the apex
	sig      *Signature // nil where the zone is not signed
}

// newSet packs records of one owner and type. All get the lowest of their TTLs, since those of an RRset must not differ
// (RFC 2181 section 5.2), and duplicates are removed (section 5). An empty owner is the question's name.
func newSet(apex, owner canonical, records []dns.RR) (set, error) {
	records, err := distinct(records)
	if err != nil {
		return set{}, err
	}
	ttl := records[0].Header().Ttl
	for _, rr := range records {
		ttl = min(ttl, rr.Header().Ttl)
	}
	p := packer{apex: apex}
	s := set{rtype: records[0].Header().Rrtype, count: uint16(len(records)), ttl: ttl}
	for _, rr := range records {
		rr = dns.Copy(rr)
		rr.Header().Ttl = ttl
		if err := p.record(owner, rr); err != nil {
			return set{}, err
		}
		s.records = append(s.records, rr)
	}
	s.wire, s.pointers = p.wire, p.pointers
	if len(s.wire) > MaxSet {
		return set{}, fmt.Errorf("%d records of type %s at %s: %d octets, more than fit into one answer (%d)",
			len(records), dns.TypeToString[s.rtype], records[0].Header().Name, len(s.wire), MaxSet)
	}
	return s, nil
}

// Fits returns an error for records of one owner and type that are too long for an answer in a zone.
func Fits(apex string, records []dns.RR) error {
	name, err := canonicalName(apex)
	if err == nil {
		_, err = newSet(name, "", records)
	}
	return err
}

// distinct removes duplicates. Records whose names differ in case alone are the same: in canonical form there is one of
// them, and a signature over two would hold for no validator (RFC 4034 section 6.3).
func distinct(records []dns.RR) (some []dns.RR, err error) {
	if len(records) == 1 {
		return records, nil
	}
	seen := make(map[string]bool, len(records))
	for _, rr := range records {
		data, err := dataOf(canonicalCase(rr))
		if err != nil {
			return nil, err
		}
		if !seen[string(data)] {
			seen[string(data)] = true
			some = append(some, rr)
		}
	}
	return some, nil
}

// MaxSet bounds the octets of an RRset, so that a message over TCP always has room for it, the question and an OPT
// record.
const MaxSet = dns.MaxMsgSize - headerSize - maxName - 4 - maxOPT - maxSigned

// maxOPT bounds the octets of an OPT record that this program sends.
const maxOPT = 1024

// maxSigned bounds the octets of the signatures and proofs of an answer, with the keys that a zone may have.
const maxSigned = 8 << 10
