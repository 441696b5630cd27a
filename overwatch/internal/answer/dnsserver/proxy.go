package dnsserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"time"
)

// Layout of a header of the PROXY protocol, version 2: the signature, version and command, family and transport, and
// the length of the rest, which has the addresses and TLVs.
const (
	proxySignature   = "\r\n\r\n\x00\r\nQUIT\n"
	proxyFixedSize   = 16
	proxyVersion     = 2
	proxyLocal       = 0 // command: a connection of the proxy itself
	proxyProxied     = 1 // command: a connection on behalf of a client
	maxProxyFamily   = 3 // unspecified, IPv4, IPv6, unix
	maxTransport     = 2 // unspecified, stream, datagram
	proxyFamily4     = 1
	proxyFamily6     = 2
	proxyAddresses4  = 2*4 + 2*2
	proxyAddresses6  = 2*16 + 2*2
	maxProxySize     = 512 // maximum size of a header in octets, with its TLVs
	proxyLengthField = 14
)

// proxyHeader is the content of a header of the PROXY protocol.
type proxyHeader struct {
	// client and destination are the source and the destination of the query at the proxy. Both are the zero value for
	// a query of the proxy itself, and for families other than IPv4 and IPv6.
	client, destination netip.AddrPort
}

// readProxyHeader parses the header at the start of data. size is its size in octets; 0 if data ends before the end of
// the header. It returns false if data does not start with a valid header of at most maxProxySize octets. It ignores
// TLVs.
func readProxyHeader(data []byte) (h proxyHeader, size int, ok bool) {
	if start := min(len(data), len(proxySignature)); string(data[:start]) != proxySignature[:start] {
		return h, 0, false
	}
	if len(data) < proxyFixedSize {
		return h, 0, true
	}
	command, family, transport := data[12]&0xF, data[13]>>4, data[13]&0xF
	size = proxyFixedSize + int(binary.BigEndian.Uint16(data[proxyLengthField:]))
	if data[12]>>4 != proxyVersion || command > proxyProxied || family > maxProxyFamily || transport > maxTransport ||
		size > maxProxySize {
		return h, 0, false
	}
	if len(data) < size {
		return h, 0, true
	}
	addresses := data[proxyFixedSize:size]
	switch {
	case command == proxyLocal:
	case family == proxyFamily4:
		if len(addresses) < proxyAddresses4 {
			return h, 0, false
		}
		h.client = netip.AddrPortFrom(netip.AddrFrom4([4]byte(addresses)), binary.BigEndian.Uint16(addresses[8:]))
		h.destination = netip.AddrPortFrom(netip.AddrFrom4([4]byte(addresses[4:])),
			binary.BigEndian.Uint16(addresses[10:]))
	case family == proxyFamily6:
		if len(addresses) < proxyAddresses6 {
			return h, 0, false
		}
		h.client = netip.AddrPortFrom(netip.AddrFrom16([16]byte(addresses)).Unmap(),
			binary.BigEndian.Uint16(addresses[32:]))
		h.destination = netip.AddrPortFrom(netip.AddrFrom16([16]byte(addresses[16:])).Unmap(),
			binary.BigEndian.Uint16(addresses[34:]))
	}
	return h, size, true
}

// isProxy reports whether messages of an address must start with a header of the PROXY protocol.
func (r *responder) isProxy(from netip.Addr) bool {
	for _, network := range r.proxies {
		if network.Contains(from) {
			return true
		}
	}
	return false
}

// unwrap returns the query in a message over UDP, with its header if the message is from a proxy. Without a complete
// header, such a message is rejected: the query is empty, so it receives no reply.
func (r *responder) unwrap(message []byte, from netip.Addr) (query []byte, h proxyHeader) {
	if !r.isProxy(from) {
		return message, h
	}
	h, size, ok := readProxyHeader(message)
	if !ok || size == 0 {
		r.counts.unproxied.Add(1)
		return nil, proxyHeader{}
	}
	return message[size:], h
}

// readHeader reads the header of a connection from a proxy and sets the client of the connection. input contains the
// data received before; rest is the data after the header. It returns false if the connection must be closed.
func (t *tcpServer) readHeader(one *connection, input []byte) (rest []byte, ok bool) {
	if !t.connections.setReadDeadline(one, time.Now().Add(idleTimeout)) {
		return nil, false
	}
	for {
		h, size, ok := readProxyHeader(input)
		if !ok {
			t.responder.counts.unproxied.Add(1)
			return nil, false
		}
		if size > 0 {
			if h.client.IsValid() {
				t.connections.setClient(one, h)
			}
			return input[size:], true
		}
		if len(input) == cap(input) {
			input = append(make([]byte, 0, 2*cap(input)), input...)
		}
		n, err := one.Read(input[len(input):cap(input)])
		if n == 0 && err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.connections.idle.Add(1)
			}
			return nil, false
		}
		input = input[:len(input)+n]
	}
}

// hasProxySignature reports whether data starts with the signature of the PROXY protocol. hasWholeMessage has no
// meaning for such data.
func hasProxySignature(data []byte) bool { return bytes.HasPrefix(data, []byte(proxySignature)) }
