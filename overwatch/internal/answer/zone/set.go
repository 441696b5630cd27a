package zone

import (
	"fmt"

	"github.com/miekg/dns"
)

// set is a packed static RRset, ready to be copied into an answer.
type set struct {
	rtype    uint16
	count    uint16
	ttl      uint32 // seconds
	wire     []byte
	pointers []uint16   // offsets in wire of pointers to the apex
	target   []byte     // target of a CNAME in canonical form
	sig      *Signature // nil if the zone is not signed
}

// newSet packs records with the same owner and type (see packableSet). An empty owner is the question's name.
func newSet(apex, owner canonical, records []dns.RR) (set, error) {
	p := packer{apex: apex}
	header := records[0].Header()
	s := set{rtype: header.Rrtype, count: uint16(len(records)), ttl: header.Ttl}
	for _, rr := range records {
		if err := p.appendRecord(owner, rr); err != nil {
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

// packableSet returns copies of records with the same owner and type as an RRset: without duplicates (RFC 2181 section
// 5), and with the lowest TTL of the records (RFC 2181 section 5.2).
func packableSet(records []dns.RR) ([]dns.RR, error) {
	records, err := removeDuplicates(records)
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

// CheckFits returns an error if records with the same owner and type exceed the size of an answer of the zone.
func CheckFits(apex string, records []dns.RR) error {
	name, err := canonicalName(apex)
	if err == nil {
		records, err = packableSet(records)
	}
	if err == nil {
		_, err = newSet(name, "", records)
	}
	return err
}

// removeDuplicates removes duplicates. Records with names that differ only in case are duplicates, because their
// canonical forms are equal (RFC 4034 section 6.3).
func removeDuplicates(records []dns.RR) (some []dns.RR, err error) {
	if len(records) == 1 {
		return records, nil
	}
	seen := make(map[string]bool, len(records))
	for _, rr := range records {
		data, err := dataOf(lowerRecordNames(rr))
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

// MaxSet is the largest size of an RRset in octets. A TCP message then has room for the RRset, the question and an OPT
// record.
const MaxSet = dns.MaxMsgSize - headerSize - maxName - 4 - maxOPT - maxSigned

// maxOPT is the largest size in octets of an OPT record that this program sends.
const maxOPT = 1024

// maxSigned is the largest size in octets of the signatures and proofs of an answer, with the largest number of keys.
const maxSigned = 8 << 10
