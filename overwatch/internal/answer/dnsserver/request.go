package dnsserver

import (
	"encoding/binary"
	"net/netip"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// request holds the parsed parts of a query. Its slices refer to the query and to name.
type request struct {
	question zone.Question
	class    uint16
	end      int  // offset after the question; headerSize without a question
	parsed   bool // read completed
	ignored  bool // the query receives no reply
	rcode    int  // result of parsing
	isLookup bool // a view can answer the question
	from     netip.Addr
	tcp      bool
	edns     edns
	tsig     int           // offset of the TSIG record; 0 if missing
	name     [maxName]byte // memory of question.Name
}

// readQuestion parses the question of a query. It returns false for a format error.
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

// client returns the client address: the network of the client subnet option, otherwise the source address of the
// query. A prefix of length 0 means that the resolver hides its client (RFC 7871 section 7.1.2).
func (r *request) client() netip.Addr {
	if r.edns.subnet != nil && r.edns.subnet[sourceOffset] > 0 {
		return subnetAddress(r.edns.subnet)
	}
	return r.from
}

// isReservedType reports whether a type is a meta-type that views cannot answer.
func isReservedType(rtype uint16) bool {
	return rtype == 0 || rtype == dns.TypeOPT || rtype == dns.TypeNXNAME || rtype >= dns.TypeTKEY && rtype < dns.TypeANY
}

// read parses a query. For an invalid query, rcode is dns.RcodeFormatError, and if the question is invalid, end is
// headerSize.
func (r *request) read(query []byte, subnets bool) {
	r.isLookup, r.ignored = false, len(query) < headerSize || header(query).flags()&flagResponse != 0
	if r.ignored {
		return
	}
	r.rcode = r.readSections(query, subnets)
	r.isLookup = r.rcode == dns.RcodeSuccess && header(query).opcode() == dns.OpcodeQuery && r.end > headerSize &&
		r.edns.version == 0 && r.tsig == 0 && r.class == dns.ClassINET && !isReservedType(r.question.Type)
	r.question.DO, r.question.Client = r.edns.do, r.client()
}

// readSections parses the sections after the header. It returns dns.RcodeFormatError or dns.RcodeSuccess.
func (r *request) readSections(query []byte, subnets bool) (rcode int) {
	h := header(query)
	r.end, r.tsig = headerSize, 0
	r.edns = edns{}
	switch h.questions() {
	case 0: // permitted for cookie requests (RFC 7873 section 5.4)
		r.question, r.class = zone.Question{}, dns.ClassINET
	case 1:
		if !r.readQuestion(query) {
			r.question = zone.Question{}
			return dns.RcodeFormatError
		}
	default:
		r.question = zone.Question{}
		return dns.RcodeFormatError // RFC 9619 section 4
	}
	offset, ok := r.end, false
	others := int(h.answers()) + int(h.authority())
	for i := range others + int(h.additional()) {
		if offset, ok = r.readRecord(query, offset, i >= others, subnets); !ok {
			return dns.RcodeFormatError
		}
	}
	if offset != len(query) || h.questions() == 0 && r.edns.cookie == nil {
		return dns.RcodeFormatError
	}
	return dns.RcodeSuccess
}

// readRecord parses the record at the offset if it is an OPT record, and skips other records.
func (r *request) readRecord(query []byte, offset int, additional, subnets bool) (next int, ok bool) {
	if r.tsig != 0 {
		return 0, false // a TSIG record must be the last record (RFC 8945 section 5.1)
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
	// A query has at most one OPT record, in the additional section and owned by the root (RFC 6891 section 6.1).
	if !additional || offset != owner+1 || r.edns.present {
		return 0, false
	}
	return next, r.edns.read(query[offset:next], subnets, r.tcp)
}
