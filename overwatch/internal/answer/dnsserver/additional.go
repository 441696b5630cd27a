package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// appendAdditional appends the additional section: an OPT record if the query has one, and the TSIG record of o if it
// fits. It returns the number of records.
func (r *responder) appendAdditional(msg []byte, o *outcome) ([]byte, uint16) {
	count := uint16(0)
	if r.request.edns.present {
		msg = r.appendOPT(msg, o.rcode, o.extended)
		count++
	}
	if len(o.tsig) > 0 && len(o.tsig) <= cap(msg)-len(msg) {
		msg = append(msg, o.tsig...)
		count++
	}
	return msg, count
}

// optLength returns the length of the OPT record of the reply in octets. extended is an extended error code, or 0. Only
// replies without records have an extended error, so the OPT record always fits.
func (r *responder) optLength(extended uint16) int {
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
	if extended != 0 {
		n += 4 + 2
	}
	return n
}

// appendOPT appends the OPT record of the reply, with the options in the order of their codes.
func (r *responder) appendOPT(msg []byte, rcode int, extended uint16) []byte {
	e := &r.request.edns
	do := byte(0)
	if e.do {
		do = flagDO >> 8
	}
	length := r.optLength(extended) - optSize
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
	if extended != 0 {
		msg = binary.BigEndian.AppendUint16(appendOption(msg, dns.EDNS0EDE, 2), extended)
	}
	return msg
}

// appendOption appends the code and length of an EDNS option.
func appendOption(msg []byte, code uint16, length int) []byte {
	msg = binary.BigEndian.AppendUint16(msg, code)
	return binary.BigEndian.AppendUint16(msg, uint16(length))
}
