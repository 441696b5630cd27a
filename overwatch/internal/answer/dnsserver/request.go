package dnsserver

import (
	"encoding/binary"
	"net/netip"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// request holds the parts of one query that an answer depends on. Its slices point into the query.
type request struct {
	question zone.Question
	class    uint16
	end      int  // offset behind the question; headerSize where there is none
	simple   bool // its form lets the fast path answer
	from     netip.Addr
	tcp      bool
	edns     edns
	tsig     int           // offset of the TSIG record; 0 where there is none
	name     [maxName]byte // what question.Name points into
}

// readQuestion reads the question of a query. It returns false for a format error.
func (r *request) readQuestion(query []byte) bool {
	length, labels, ok := readName(query, headerSize, &r.name)
	end := headerSize + length + 4
	if !ok || end > len(query) {
		return false
	}
	r.question = zone.Question{Name: r.name[:length], Labels: labels, Type: binary.BigEndian.Uint16(query[end-4:])}
	r.class = binary.BigEndian.Uint16(query[end-2:])
	r.end = end
	return true
}

// readSimple reads a query that the fast path can answer: one question in class IN for an ordinary type or ANY, and
// nothing else but perhaps one correct OPT record of version 0. It returns false for any other query.
func (r *request) readSimple(query []byte, subnets bool) bool {
	if len(query) < headerSize {
		return false
	}
	h := header(query)
	if h.flags()&(flagResponse|opcodeMask) != 0 || h.questions() != 1 || h.answers() != 0 || h.authority() != 0 ||
		h.additional() > 1 {
		return false
	}
	if !r.readQuestion(query) || r.class != dns.ClassINET || special(r.question.Type) || r.asksWhy() {
		return false
	}
	r.edns = edns{}
	if h.additional() == 0 {
		r.question.Client = r.from
		return r.end == len(query)
	}
	if len(query) < r.end+optSize || query[r.end] != 0 {
		return false
	}
	record := query[r.end+1:]
	if binary.BigEndian.Uint16(record) != dns.TypeOPT ||
		int(binary.BigEndian.Uint16(record[8:])) != len(record)-(optSize-1) {
		return false
	}
	if !r.edns.read(record, subnets, r.tcp) || r.edns.version != 0 {
		return false
	}
	r.question.DO, r.question.Client = r.edns.do, r.client()
	return true
}

// client returns the client's address: the network of the client subnet option, or else the sender of the query. A
// resolver that gives a prefix of length 0 does not want to name its client (RFC 7871 section 7.1.2).
func (r *request) client() netip.Addr {
	if r.edns.subnet != nil && r.edns.subnet[sourceOffset] > 0 {
		return subnetAddress(r.edns.subnet)
	}
	return r.from
}

// special reports whether a type is no type of data: a meta type, or a question for something else than records.
func special(rtype uint16) bool {
	return rtype == 0 || rtype == dns.TypeOPT || rtype >= dns.TypeNXNAME && rtype < dns.TypeANY
}

// read reads any query. It returns dns.RcodeFormatError for one that breaks the rules (end is then headerSize if it is
// the question that does), else dns.RcodeSuccess.
func (r *request) read(query []byte, subnets bool) (rcode int) {
	h := header(query)
	r.end, r.edns, r.tsig = headerSize, edns{}, 0
	r.question, r.class = zone.Question{}, dns.ClassINET
	switch h.questions() {
	case 0: // allowed to fetch a cookie (RFC 7873 section 5.4)
	case 1:
		if !r.readQuestion(query) {
			return dns.RcodeFormatError
		}
	default:
		return dns.RcodeFormatError // RFC 9619 section 4
	}
	offset := r.end
	for _, section := range []struct {
		count      uint16
		additional bool
	}{{h.answers(), false}, {h.authority(), false}, {h.additional(), true}} {
		for range section.count {
			var ok bool
			if offset, ok = r.readRecord(query, offset, section.additional, subnets); !ok {
				return dns.RcodeFormatError
			}
		}
	}
	if offset != len(query) || h.questions() == 0 && r.edns.cookie == nil {
		return dns.RcodeFormatError
	}
	return dns.RcodeSuccess
}

// readRecord reads the record at the offset if it is an OPT record, and skips it otherwise.
func (r *request) readRecord(query []byte, offset int, additional, subnets bool) (next int, ok bool) {
	if r.tsig != 0 {
		return 0, false // a TSIG record must be the last one (RFC 8945 section 5.1)
	}
	owner := offset
	if offset, ok = skipName(query, offset); !ok || offset+optSize-1 > len(query) {
		return 0, false
	}
	next = offset + optSize - 1 + int(binary.BigEndian.Uint16(query[offset+8:]))
	if next > len(query) {
		return 0, false
	}
	switch binary.BigEndian.Uint16(query[offset:]) {
	case dns.TypeOPT:
	case dns.TypeTSIG:
		r.tsig = owner
		return next, additional
	default:
		return next, true
	}
	// There is one OPT record at most, in the additional section, owned by the root (RFC 6891 section 6.1).
	if !additional || offset != owner+1 || r.edns.present {
		return 0, false
	}
	return next, r.edns.read(query[offset:next], subnets, r.tcp)
}
