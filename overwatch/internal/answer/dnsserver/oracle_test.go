package dnsserver // inside: it is another implementation of reply

import (
	"encoding/hex"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// response contains the parts of a reply before it is packed.
type response struct {
	status   status
	rcode    int // including the extended bits
	flags    uint16
	extended uint16    // extended error code; 0 if missing
	tsig     *dns.TSIG // nil if missing
	answer   zone.Answer
	records  []byte // the answer and authority sections
}

// oracleReply answers any message as reply does. It packs records with miekg/dns. It returns nil for a message without
// a reply.
func (r *responder) oracleReply(query, out []byte) ([]byte, status) {
	if len(query) < headerSize || header(query).flags()&flagResponse != 0 {
		return nil, dropped
	}
	resp := r.respondTo(query)
	msg, err := r.pack(query, out, resp)
	if err != nil {
		panic(err)
	}
	return msg, resp.status
}

// respondTo returns the response to a query.
func (r *responder) respondTo(query []byte) response {
	q := r.request
	fail := func(rcode int, s status, extended uint16) response {
		return response{status: s, rcode: rcode, extended: extended}
	}
	switch {
	case header(query).opcode() != dns.OpcodeQuery:
		if q.end = headerSize; q.edns.present && q.edns.version != 0 {
			return fail(dns.RcodeBadVers, badVers, 0)
		}
		return fail(dns.RcodeNotImplemented, notImp, 0)
	case q.rcode != dns.RcodeSuccess:
		return fail(q.rcode, formErr, 0)
	case q.edns.present && q.edns.version != 0:
		return fail(dns.RcodeBadVers, badVers, 0)
	case q.tsig != 0:
		return signedResponse(query, q.tsig)
	case q.end == headerSize:
		return fail(dns.RcodeSuccess, success, 0)
	case q.class != dns.ClassINET:
		return fail(dns.RcodeRefused, refused, dns.ExtendedErrorCodeNotAuthoritative)
	}
	switch q.question.Type {
	case 0, dns.TypeOPT, dns.TypeNXNAME, dns.TypeTSIG:
		return fail(dns.RcodeFormatError, formErr, 0)
	case dns.TypeAXFR, dns.TypeIXFR:
		return fail(dns.RcodeRefused, refused, dns.ExtendedErrorCodeProhibited)
	case dns.TypeTKEY, dns.TypeMAILA, dns.TypeMAILB:
		return fail(dns.RcodeNotImplemented, notImp, 0)
	}
	msg := append(make([]byte, 0, maxMessage), query[:q.end]...)
	msg, answer := r.view().Append(msg, &q.question, r.rotations)
	if q.edns.subnet != nil && q.edns.subnet[sourceOffset] > 0 {
		q.edns.scope = answer.Scope
	}
	resp := response{answer: answer, records: msg[q.end:], flags: flagAuthoritative}
	switch answer.Kind {
	case zone.NoData:
		resp.status = noData
	case zone.NXDomain:
		resp.status, resp.rcode = nxDomain, dns.RcodeNameError
	case zone.Refused:
		return fail(dns.RcodeRefused, refused, dns.ExtendedErrorCodeNotAuthoritative)
	case zone.Failed:
		return fail(dns.RcodeServerFailure, servFail, dns.ExtendedErrorCodeNoReachableAuthority)
	}
	return resp
}

// signedResponse returns the response to a query with a TSIG record at the offset.
func signedResponse(query []byte, at int) response {
	o := badKeyOutcome(query, at)
	resp := response{status: o.status, rcode: o.rcode}
	if o.tsig != nil {
		record, _, err := dns.UnpackRR(o.tsig, 0)
		if err != nil {
			panic(err)
		}
		resp.tsig = record.(*dns.TSIG)
	}
	return resp
}

// pack writes a response: the unchanged question, the records (or none and the TC flag if they do not fit), an OPT
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
	if len(msg)+len(resp.records)+len(opt) <= r.maxResponseSize(out) {
		msg = append(msg, resp.records...)
	} else {
		resp.answer = zone.Answer{}
		resp.flags |= flagTruncated
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
		if len(msg)+len(tsig) <= r.maxResponseSize(out) {
			additional++
			msg = append(msg, tsig...)
		}
	}
	header(msg).setReply(resp.rcode, resp.flags, questions, resp.answer.Answers, resp.answer.Authority, additional)
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
