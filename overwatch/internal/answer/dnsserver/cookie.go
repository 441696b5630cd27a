package dnsserver

import (
	"crypto/subtle"
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// serverCookieSize is the size in octets of the interoperable server cookie (RFC 9018 section 4).
const serverCookieSize = 16

// serverCookie appends the server cookie of a client: version 1, the time, and a SipHash-2-4 over the client cookie,
// these values and the client address (RFC 9018 section 4.4). Each response contains a new cookie, as the RFC permits.
// A cookie is optional; a valid cookie exempts its client from the response rate limit.
func serverCookie(dst []byte, secret *[16]byte, client []byte, from netip.Addr, now uint32) []byte {
	var input [clientCookieSize + 8 + 16]byte
	n := copy(input[:], client)
	input[n] = 1 // version, followed by three reserved octets
	binary.BigEndian.PutUint32(input[n+4:], now)
	n += 8
	if from.Is4() {
		address := from.As4()
		n += copy(input[n:], address[:])
	} else {
		address := from.As16()
		n += copy(input[n:], address[:])
	}
	dst = append(dst, input[clientCookieSize:clientCookieSize+8]...)
	return binary.LittleEndian.AppendUint64(dst, sipHash(secret, input[:n]))
}

// Lifetime of a server cookie in seconds (RFC 9018 section 4.3).
const (
	cookieAge    = 3600
	cookieFuture = 300
)

// validCookie reports whether serverCookie created the server cookie for the client within the last cookieAge seconds.
func validCookie(secret *[16]byte, client, server []byte, from netip.Addr, now uint32) bool {
	if len(server) != serverCookieSize || server[0] != 1 {
		return false
	}
	made := binary.BigEndian.Uint32(server[4:])
	if age := int32(now - made); age > cookieAge || age < -cookieFuture { // serial number arithmetic (RFC 1982)
		return false
	}
	var room [serverCookieSize]byte
	return subtle.ConstantTimeCompare(serverCookie(room[:0], secret, client, from, made), server) == 1
}

// sipHash returns the SipHash-2-4 of data (Aumasson and Bernstein, 2012).
func sipHash(key *[16]byte, data []byte) uint64 {
	k0, k1 := binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])
	s := sipState{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	last := uint64(len(data)) << 56
	for ; len(data) >= 8; data = data[8:] {
		s.absorb(binary.LittleEndian.Uint64(data))
	}
	for i, c := range data {
		last |= uint64(c) << (8 * i)
	}
	s.absorb(last)
	s[2] ^= 0xff
	for range 4 {
		s.round()
	}
	return s[0] ^ s[1] ^ s[2] ^ s[3]
}

type sipState [4]uint64

func (s *sipState) absorb(word uint64) {
	s[3] ^= word
	s.round()
	s.round()
	s[0] ^= word
}

func (s *sipState) round() {
	s[0] += s[1]
	s[1] = bits.RotateLeft64(s[1], 13) ^ s[0]
	s[0] = bits.RotateLeft64(s[0], 32)
	s[2] += s[3]
	s[3] = bits.RotateLeft64(s[3], 16) ^ s[2]
	s[0] += s[3]
	s[3] = bits.RotateLeft64(s[3], 21) ^ s[0]
	s[2] += s[1]
	s[1] = bits.RotateLeft64(s[1], 17) ^ s[2]
	s[2] = bits.RotateLeft64(s[2], 32)
}
