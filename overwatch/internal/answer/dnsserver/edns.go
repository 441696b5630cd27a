package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

const (
	// optSize is the length of an OPT record without options: root name, type, class, TTL, data length.
	optSize = 11
	// udpSize is the longest query that is asked for over UDP, and the default length of the longest response, so that
	// none is fragmented (DNS flag day 2020). maxUDPSize is the longest response that may be configured.
	udpSize    = 1232
	maxUDPSize = 4096
	// minUDPSize is the length of message that each client can take (RFC 6891 section 6.2.3).
	minUDPSize = dns.MinMsgSize
	flagDO     = 1 << 15

	clientCookieSize    = 8
	minServerCookieSize = 8
	maxServerCookieSize = 32
)

// edns holds the contents of a query's OPT record.
type edns struct {
	present   bool
	version   uint8
	do        bool
	size      uint16 // of messages that the client can take over UDP
	nsid      bool   // the client asks for the server's identifier
	keepalive bool   // over TCP
	cookie    []byte // the client's part; nil for none
	// serverCookie is the part that a server gave, whichever it was; nil for none.
	serverCookie []byte
	subnet       []byte // the whole client subnet option, correct; nil for none
	scope        uint8  // for the client subnet option of the response
}

// read reads a whole OPT record from its type on. It returns false for a format error. The options of versions other
// than 0 are not read, since their meaning is not known.
func (e *edns) read(record []byte, subnets, tcp bool) bool {
	e.present = true
	e.size = binary.BigEndian.Uint16(record[2:])
	e.version = record[5]
	e.do = binary.BigEndian.Uint16(record[6:])&flagDO != 0
	if e.version != 0 {
		return true
	}
	for options := record[optSize-1:]; len(options) > 0; {
		if len(options) < 4 {
			return false
		}
		code, length := binary.BigEndian.Uint16(options), int(binary.BigEndian.Uint16(options[2:]))
		if options = options[4:]; length > len(options) {
			return false
		}
		if !e.option(code, options[:length:length], subnets, tcp) {
			return false
		}
		options = options[length:]
	}
	return true
}

// option notes an option; unknown ones are ignored (RFC 6891 section 6.1.2), and so is all but the first of a kind.
func (e *edns) option(code uint16, value []byte, subnets, tcp bool) bool {
	switch code {
	case dns.EDNS0NSID:
		e.nsid = true
	case dns.EDNS0TCPKEEPALIVE:
		e.keepalive = tcp // RFC 7828 section 3.3.1: ignored over UDP
	case dns.EDNS0COOKIE:
		server := len(value) - clientCookieSize
		if server != 0 && (server < minServerCookieSize || server > maxServerCookieSize) {
			return false // RFC 7873 section 5.2.2
		}
		if e.cookie == nil {
			e.cookie = value[:clientCookieSize]
			if server > 0 {
				e.serverCookie = value[clientCookieSize:]
			}
		}
	case dns.EDNS0SUBNET:
		if subnets && e.subnet == nil {
			if !correctSubnet(value) {
				return false
			}
			e.subnet = value
		}
	}
	return true
}
