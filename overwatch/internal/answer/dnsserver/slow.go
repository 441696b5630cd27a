package dnsserver

import (
	"encoding/hex"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// response holds the contents of a reply before it is packed.
type response struct {
	status     status
	rcode      int // with the extended bits
	flags      uint16
	extended   uint16          // error code, 0 for none
	tsig       *dns.TSIG       // nil for none
	resolution zone.Resolution // the records, if any
}

// failure returns a response without records.
func failure(rcode int, s status) response {
	return response{status: s, rcode: rcode, extended: extendedError(rcode)}
}

// slow answers any message. It returns nil for one that gets no answer.
func (r *responder) slow(query, out []byte) ([]byte, status) {
	if len(query) < headerSize || header(query).flags()&flagResponse != 0 {
		// A message without a whole header cannot be answered, and answering a response could begin a loop.
		return nil, dropped
	}
	resp := r.resolve(query)
	msg, err := r.pack(query, out, resp)
	if err != nil {
		// Records that cannot be packed are a fault of ours.
		resp = failure(dns.RcodeServerFailure, servFail)
		if msg, err = r.pack(query, out, resp); err != nil {
			return nil, dropped
		}
	}
	return msg, resp.status
}

// resolve returns the response to a query.
func (r *responder) resolve(query []byte) response {
	q := r.request
	rcode := q.read(query, r.subnets)
	if header(query).opcode() != dns.OpcodeQuery {
		return r.unknown()
	}
	switch {
	case rcode != dns.RcodeSuccess:
		return failure(rcode, formErr)
	case q.edns.present && q.edns.version != 0:
		return failure(dns.RcodeBadVers, badVers)
	case q.tsig != 0:
		return badKey(query, q.tsig)
	case q.end == headerSize: // only a cookie is asked for
		return failure(dns.RcodeSuccess, success)
	case q.class != dns.ClassINET:
		return failure(dns.RcodeRefused, refused)
	}
	switch q.question.Type {
	case 0, dns.TypeOPT, dns.TypeNXNAME, dns.TypeTSIG: // not to be asked for (RFC 6895 section 3.1, RFC 9824 section 3.5)
		return failure(dns.RcodeFormatError, formErr)
	case dns.TypeAXFR, dns.TypeIXFR: // no transfers
		resp := failure(dns.RcodeRefused, refused)
		resp.extended = dns.ExtendedErrorCodeProhibited
		return resp
	case dns.TypeTKEY, dns.TypeMAILA, dns.TypeMAILB:
		return failure(dns.RcodeNotImplemented, notImp)
	}
	name, _, err := dns.UnpackDomainName(query, headerSize)
	if err != nil {
		return failure(dns.RcodeFormatError, formErr)
	}
	began := r.noted.Begin()
	view := r.view()
	view.Enclose(&q.question) // for the rate limit
	resolution := view.Resolve(name, q.question.Type, q.edns.do, q.client(), r.turns)
	if resolution.Steered.Basis != nil {
		r.noted.Note(began, &resolution.Steered, q.client())
	}
	// The scope of a negative answer is 0 (RFC 7871 section 7.4), unless an alias before it depends on the client.
	q.edns.scoped(resolution.Scope)
	r.explain(&resolution, name)
	rcode, s := outcome(resolution.Kind)
	return response{status: s, rcode: rcode, flags: authoritative(rcode), extended: extendedError(rcode),
		resolution: resolution}
}

// unknown returns the response to an opcode that is not served. Such a message mostly has the form of a query, so its
// OPT record is answered with another (RFC 6891 sections 6.1.1 and 6.1.3). Its question may mean something else and is
// not repeated.
func (r *responder) unknown() response {
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

// badKey returns the response to a query with a TSIG record at the offset. No key is known here, so the response is
// NOTAUTH with an unsigned TSIG record of error BADKEY (RFC 8945 sections 5.2.1 and 5.3.2).
func badKey(query []byte, at int) response {
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
	resp := failure(dns.RcodeNotAuth, notAuth)
	resp.tsig = &dns.TSIG{
		Hdr:       dns.RR_Header{Name: tsig.Hdr.Name, Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm: tsig.Algorithm, TimeSigned: tsig.TimeSigned, Fudge: tsig.Fudge, OrigId: tsig.OrigId,
		Error: dns.RcodeBadKey,
	}
	return resp
}

// pack writes a response: the question as it came, the records or, if they do not fit, none and the TC flag, an OPT
// record if the query had one, and a TSIG record if it fits.
func (r *responder) pack(query, out []byte, resp response) ([]byte, error) {
	msg := append(out[:0], query[:r.request.end]...)
	questions := uint16(0)
	if r.request.end > headerSize {
		questions = 1
	}
	var opt []byte
	if r.request.edns.present {
		var err error
		if opt, err = r.opt(resp.rcode, resp.extended); err != nil {
			return nil, err
		}
	}
	answers, authority := len(resp.resolution.Answer), len(resp.resolution.Authority)
	if answers+authority > 0 {
		full, err := resp.resolution.AppendTo(msg)
		if err != nil {
			return nil, err
		}
		if len(full)+len(opt) <= r.limit(out) {
			msg = full
		} else {
			answers, authority = 0, 0
			resp.flags |= flagTruncated
		}
	}
	additional := uint16(0)
	if opt != nil {
		additional = 1
		msg = append(msg, opt...)
	}
	if resp.tsig != nil {
		tsig, err := packed(resp.tsig)
		if err != nil {
			return nil, err
		}
		if len(msg)+len(tsig) <= r.limit(out) {
			additional++
			msg = append(msg, tsig...)
		}
	}
	header(msg).reply(resp.rcode, resp.flags, questions, uint16(answers), uint16(authority), additional)
	return msg, nil
}

// opt returns the OPT record of the response in wire form.
func (r *responder) opt(rcode int, extended uint16) ([]byte, error) {
	e := &r.request.edns
	record := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
	record.SetUDPSize(udpSize)
	record.SetExtendedRcode(uint16(rcode))
	record.SetDo(e.do)
	if e.nsid && len(r.nsid) > 0 {
		record.Option = append(record.Option, &dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: hex.EncodeToString(r.nsid)})
	}
	if e.subnet != nil {
		subnet := slices.Clone(e.subnet)
		subnet[scopeOffset] = e.scope
		record.Option = append(record.Option, &dns.EDNS0_LOCAL{Code: dns.EDNS0SUBNET, Data: subnet})
	}
	if e.cookie != nil {
		both := serverCookie(append([]byte(nil), e.cookie...), &r.secret, e.cookie, r.request.from, uint32(r.now().Unix()))
		record.Option = append(record.Option, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: hex.EncodeToString(both)})
	}
	if e.keepalive {
		record.Option = append(record.Option, &dns.EDNS0_TCP_KEEPALIVE{Code: dns.EDNS0TCPKEEPALIVE, Timeout: r.keepalive})
	}
	if extended != 0 {
		record.Option = append(record.Option, &dns.EDNS0_EDE{InfoCode: extended})
	}
	return packed(record)
}

// packed returns a record in wire form, without compression.
func packed(record dns.RR) ([]byte, error) {
	wire := make([]byte, dns.Len(record)+1)
	end, err := dns.PackRR(record, wire, 0, nil, false)
	return wire[:end], err
}
