package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

const (
	// optSize is the length in octets of an OPT record without options: root name, type, class, TTL, data length.
	optSize = 11
	// udpSize is the maximum UDP query size that the server announces, and the default of the maximum UDP response
	// size. It avoids fragmentation (DNS flag day 2020). maxUDPSize is the largest value that can be configured.
	udpSize    = 1232
	maxUDPSize = 4096
	// minUDPSize is the message size that all clients support (RFC 6891 section 6.2.3).
	minUDPSize = dns.MinMsgSize
	flagDO     = 1 << 15

	clientCookieSize    = 8
	minServerCookieSize = 8
	maxServerCookieSize = 32
)

// edns holds the content of the OPT record of a query.
type edns struct {
	present   bool
	version   uint8
	do        bool
	size      uint16 // maximum UDP message size of the client
	nsid      bool   // the client requests the server identifier (RFC 5001)
	keepalive bool   // keepalive option of a TCP query (RFC 7828)
	cookie    []byte // client cookie; nil if missing
	// serverCookie is the server cookie of the query, from any server; nil if missing.
	serverCookie []byte
	subnet       []byte // the validated client subnet option; nil if missing
	scope        uint8  // scope prefix length of the response
}

// read parses a complete OPT record, starting at its type. It returns false for a format error. For versions other than
// 0 it ignores the options, because their meaning is undefined.
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
		if !e.readOption(code, options[:length:length], subnets, tcp) {
			return false
		}
		options = options[length:]
	}
	return true
}

// readOption parses an option. It ignores unknown options (RFC 6891 section 6.1.2) and repeated options. It returns
// false for a format error.
func (e *edns) readOption(code uint16, value []byte, subnets, tcp bool) bool {
	switch code {
	case dns.EDNS0NSID:
		e.nsid = true
	case dns.EDNS0TCPKEEPALIVE:
		e.keepalive = tcp // ignored over UDP (RFC 7828 section 3.3.1)
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
			if !isValidSubnet(value) {
				return false
			}
			e.subnet = value
		}
	}
	return true
}
