package zone

import (
	"fmt"

	"github.com/miekg/dns"
)

// set is an RRset that does not depend on health, packed and ready to be copied behind a question.
type set struct {
	rtype    uint16
	count    uint16
	ttl      uint32 // seconds
	wire     []byte
	pointers []uint16   // in wire, to the apex
	target   []byte     // of a CNAME, in canonical form
	sig      *Signature // nil where the zone is not signed
}

// newSet packs records of one owner and type (uniform). An empty owner is the question's name.
func newSet(apex, owner canonical, records []dns.RR) (set, error) {
	p := packer{apex: apex}
	header := records[0].Header()
	s := set{rtype: header.Rrtype, count: uint16(len(records)), ttl: header.Ttl}
	for _, rr := range records {
		if err := p.record(owner, rr); err != nil {
			return set{}, err
		}
	}
	s.wire, s.pointers = p.wire, p.pointers
	if len(s.wire) > MaxSet {
		return set{}, fmt.Errorf("%d records of type %s at %s: %d octets, more than fit into one answer (%d)",
			len(records), dns.TypeToString[s.rtype], header.Name, len(s.wire), MaxSet)
	}
	if alias, ok := records[0].(*dns.CNAME); ok {
		target, err := canonicalName(alias.Target)
		if err != nil {
			return set{}, err
		}
		s.target = []byte(target)
	}
	return s, nil
}

// uniform returns copies of records of one owner and type as an RRset. All get the lowest of their TTLs, since the TTLs
// of an RRset must not differ (RFC 2181 section 5.2), and duplicates are removed (section 5).
func uniform(records []dns.RR) ([]dns.RR, error) {
	records, err := distinct(records)
	if err != nil {
		return nil, err
	}
	ttl := records[0].Header().Ttl
	for _, rr := range records {
		ttl = min(ttl, rr.Header().Ttl)
	}
	set := make([]dns.RR, len(records))
	for i, rr := range records {
		set[i] = dns.Copy(rr)
		set[i].Header().Ttl = ttl
	}
	return set, nil
}

// Fits returns an error for records of one owner and type that are too long for an answer in a zone.
func Fits(apex string, records []dns.RR) error {
	name, err := canonicalName(apex)
	if err == nil {
		records, err = uniform(records)
	}
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
