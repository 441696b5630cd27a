package dnsserver

import (
	"github.com/miekg/dns"
)

// failureOutcome returns an outcome without records.
func failureOutcome(rcode int, s status) outcome {
	return outcome{status: s, rcode: rcode, extended: extendedError(rcode)}
}

// refusedOutcome returns the outcome of a query that a view cannot answer.
func (r *responder) refusedOutcome(query []byte) outcome {
	q := r.request
	switch opcode := header(query).opcode(); {
	case opcode == dns.OpcodeUpdate && r.updates != nil && r.updates.IsEnabled():
		return r.updateOutcome(query)
	case opcode != dns.OpcodeQuery:
		return r.unknownOpcodeOutcome()
	}
	switch {
	case q.rcode != dns.RcodeSuccess:
		return failureOutcome(q.rcode, formErr)
	case q.edns.version != 0:
		return failureOutcome(dns.RcodeBadVers, badVers)
	case q.tsig != 0:
		return badKeyOutcome(query, q.tsig)
	case q.end == headerSize: // query for a cookie only
		return failureOutcome(dns.RcodeSuccess, success)
	case q.class != dns.ClassINET:
		return failureOutcome(dns.RcodeRefused, refused)
	}
	switch q.question.Type {
	case dns.TypeAXFR, dns.TypeIXFR: // zone transfers are not supported
		o := failureOutcome(dns.RcodeRefused, refused)
		o.extended = dns.ExtendedErrorCodeProhibited
		return o
	case dns.TypeTKEY, dns.TypeMAILA, dns.TypeMAILB:
		return failureOutcome(dns.RcodeNotImplemented, notImp)
	}
	return failureOutcome(dns.RcodeFormatError, formErr) // reserved types (RFC 6895 section 3.1, RFC 9824 section 3.5)
}

// unknownOpcodeOutcome returns the outcome of an unsupported opcode. Most of these messages have the format of a query,
// so the reply contains an OPT record if the message has one (RFC 6891 sections 6.1.1 and 6.1.3). The reply omits the
// question, which can have another meaning.
func (r *responder) unknownOpcodeOutcome() outcome {
	q := r.request
	q.end = headerSize
	if q.edns.present && q.edns.version != 0 {
		return failureOutcome(dns.RcodeBadVers, badVers)
	}
	return failureOutcome(dns.RcodeNotImplemented, notImp)
}

// tsigFixed is the length in octets of a TSIG record's data without name, MAC and other data (RFC 8945 section 4.2).
const tsigFixed = 6 + 2 + 2 + 2 + 2 + 2

// badKeyOutcome returns the outcome of a message with a TSIG record at offset at. The server has no keys for queries,
// and Updates answers updates with a known key, so the reply is NOTAUTH with an unsigned TSIG record and error BADKEY
// (RFC 8945 sections 5.2.1 and 5.3.2).
func badKeyOutcome(query []byte, at int) outcome {
	record, _, err := dns.UnpackRR(query, at)
	tsig, ok := record.(*dns.TSIG)
	if err != nil || !ok || tsig.Hdr.Class != dns.ClassANY || tsig.Hdr.Ttl != 0 {
		return failureOutcome(dns.RcodeFormatError, formErr)
	}
	// UnpackRR accepts truncated records, so the length is checked here.
	data := query[len(query)-int(tsig.Hdr.Rdlength):]
	algorithm, _, ok := readName(data, 0, new([maxName]byte))
	if !ok || len(data) != algorithm+tsigFixed+int(tsig.MACSize)+int(tsig.OtherLen) {
		return failureOutcome(dns.RcodeFormatError, formErr)
	}
	unsigned := &dns.TSIG{
		Hdr:       dns.RR_Header{Name: tsig.Hdr.Name, Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm: tsig.Algorithm, TimeSigned: tsig.TimeSigned, Fudge: tsig.Fudge, OrigId: tsig.OrigId,
		Error: dns.RcodeBadKey,
	}
	wire := make([]byte, dns.Len(unsigned)+1)
	end, err := dns.PackRR(unsigned, wire, 0, nil, false)
	if err != nil {
		return failureOutcome(dns.RcodeFormatError, formErr)
	}
	o := failureOutcome(dns.RcodeNotAuth, notAuth)
	o.tsig = wire[:end]
	return o
}
