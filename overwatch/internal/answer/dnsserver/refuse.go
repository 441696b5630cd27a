package dnsserver

import (
	"github.com/miekg/dns"
)

// failure returns an outcome without records.
func failure(rcode int, s status) outcome {
	return outcome{status: s, rcode: rcode, extended: extendedError(rcode)}
}

// refuse returns the outcome of a query that no view answers.
func (r *responder) refuse(query []byte) outcome {
	q := r.request
	if header(query).opcode() != dns.OpcodeQuery {
		return r.unknownOpcode()
	}
	switch {
	case q.rcode != dns.RcodeSuccess:
		return failure(q.rcode, formErr)
	case q.edns.version != 0:
		return failure(dns.RcodeBadVers, badVers)
	case q.tsig != 0:
		return badKey(query, q.tsig)
	case q.end == headerSize: // only a cookie is asked for
		return failure(dns.RcodeSuccess, success)
	case q.class != dns.ClassINET:
		return failure(dns.RcodeRefused, refused)
	}
	switch q.question.Type {
	case dns.TypeAXFR, dns.TypeIXFR: // no transfers
		o := failure(dns.RcodeRefused, refused)
		o.extended = dns.ExtendedErrorCodeProhibited
		return o
	case dns.TypeTKEY, dns.TypeMAILA, dns.TypeMAILB:
		return failure(dns.RcodeNotImplemented, notImp)
	}
	return failure(dns.RcodeFormatError, formErr) // not to be asked for (RFC 6895 section 3.1, RFC 9824 section 3.5)
}

// unknownOpcode returns the outcome of an opcode that is not served. Such a message mostly has the form of a query, so
// its OPT record is answered with another (RFC 6891 sections 6.1.1 and 6.1.3). Its question may mean something else and
// is not repeated.
func (r *responder) unknownOpcode() outcome {
	q := r.request
	q.end = headerSize
	if q.edns.present && q.edns.version != 0 {
		return failure(dns.RcodeBadVers, badVers)
	}
	return failure(dns.RcodeNotImplemented, notImp)
}

// tsigFixed is the length of a TSIG record's data without its name, MAC and other data, in octets (RFC 8945 section
// 4.2).
const tsigFixed = 6 + 2 + 2 + 2 + 2 + 2

// badKey returns the outcome of a query with a TSIG record at the offset. No key is known here, so the reply is
// NOTAUTH with an unsigned TSIG record of error BADKEY (RFC 8945 sections 5.2.1 and 5.3.2).
func badKey(query []byte, at int) outcome {
	record, _, err := dns.UnpackRR(query, at)
	tsig, ok := record.(*dns.TSIG)
	if err != nil || !ok || tsig.Hdr.Class != dns.ClassANY || tsig.Hdr.Ttl != 0 {
		return failure(dns.RcodeFormatError, formErr)
	}
	// UnpackRR accepts records that are cut off, so the length is checked here.
	data := query[len(query)-int(tsig.Hdr.Rdlength):]
	algorithm, _, ok := readName(data, 0, new([maxName]byte))
	if !ok || len(data) != algorithm+tsigFixed+int(tsig.MACSize)+int(tsig.OtherLen) {
		return failure(dns.RcodeFormatError, formErr)
	}
	unsigned := &dns.TSIG{
		Hdr:       dns.RR_Header{Name: tsig.Hdr.Name, Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm: tsig.Algorithm, TimeSigned: tsig.TimeSigned, Fudge: tsig.Fudge, OrigId: tsig.OrigId,
		Error: dns.RcodeBadKey,
	}
	wire := make([]byte, dns.Len(unsigned)+1)
	end, err := dns.PackRR(unsigned, wire, 0, nil, false)
	if err != nil {
		return failure(dns.RcodeFormatError, formErr)
	}
	o := failure(dns.RcodeNotAuth, notAuth)
	o.tsig = wire[:end]
	return o
}
