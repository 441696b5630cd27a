package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// fast answers a query that readSimple could read. Else ok is false, and slow must answer from the query.
func (r *responder) fast(query, out []byte) (reply []byte, s status, ok bool) {
	q := r.request
	if !q.simple {
		return nil, 0, false
	}
	opt := 0
	if q.edns.present {
		opt = r.optLength(0)
	}
	limit := r.limit(out)
	msg := append(out[:0], query[:q.end]...)
	began := r.noted.Begin()
	msg, answer := r.view().Append(msg[:q.end:limit-opt], &q.question, r.turns)
	if answer.Kind == zone.Elsewhere {
		return nil, 0, false
	}
	if answer.Steered.Basis != nil && !answer.Truncated { // a client that is sent to TCP asks again
		r.noted.Note(began, &answer.Steered, q.question.Client)
	}
	q.edns.scoped(answer.Scope)
	rcode, s := outcome(answer.Kind)
	flags := authoritative(rcode)
	if answer.Truncated {
		flags |= flagTruncated
	}
	additional := uint16(0)
	if q.edns.present {
		additional = 1
		msg = r.appendOPT(out[:len(msg):limit], rcode) // msg still lies in out
	}
	header(msg).reply(rcode, flags, 1, answer.Answers, answer.Authority, additional)
	return msg, s, true
}

// optLength returns the length of the response's OPT record, in octets. An extended error counts only where there are
// no records, so that it always fits.
func (r *responder) optLength(rcode int) int {
	e, n := &r.request.edns, optSize
	if e.nsid && len(r.nsid) > 0 {
		n += 4 + len(r.nsid)
	}
	if e.subnet != nil {
		n += 4 + len(e.subnet)
	}
	if e.cookie != nil {
		n += 4 + clientCookieSize + serverCookieSize
	}
	if e.keepalive {
		n += 4 + 2
	}
	if extendedError(rcode) != 0 {
		n += 4 + 2
	}
	return n
}

// appendOPT appends the OPT record of the response, options in the order of their codes.
func (r *responder) appendOPT(msg []byte, rcode int) []byte {
	e := &r.request.edns
	do := byte(0)
	if e.do {
		do = flagDO >> 8
	}
	length := r.optLength(rcode) - optSize
	msg = append(msg, 0, 0, byte(dns.TypeOPT), udpSize>>8, udpSize&0xFF, byte(rcode>>4), 0, do, 0, byte(length>>8),
		byte(length))
	if e.nsid && len(r.nsid) > 0 {
		msg = append(appendOption(msg, dns.EDNS0NSID, len(r.nsid)), r.nsid...)
	}
	if e.subnet != nil {
		msg = append(appendOption(msg, dns.EDNS0SUBNET, len(e.subnet)), e.subnet...)
		msg[len(msg)-len(e.subnet)+scopeOffset] = e.scope
	}
	if e.cookie != nil {
		msg = append(appendOption(msg, dns.EDNS0COOKIE, clientCookieSize+serverCookieSize), e.cookie...)
		msg = serverCookie(msg, &r.secret, e.cookie, r.request.from, uint32(r.now().Unix()))
	}
	if e.keepalive {
		msg = binary.BigEndian.AppendUint16(appendOption(msg, dns.EDNS0TCPKEEPALIVE, 2), r.keepalive)
	}
	if code := extendedError(rcode); code != 0 {
		msg = binary.BigEndian.AppendUint16(appendOption(msg, dns.EDNS0EDE, 2), code)
	}
	return msg
}

func appendOption(msg []byte, code uint16, length int) []byte {
	msg = binary.BigEndian.AppendUint16(msg, code)
	return binary.BigEndian.AppendUint16(msg, uint16(length))
}
