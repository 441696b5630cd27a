package dnsupdate

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/shared/tokenbucket"
)

// answer returns the response to a message; nil if the message is no DNS message.
func (h *Handler) answer(ctx context.Context, query []byte, from netip.Addr) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	reply, code := h.reply(ctx, query, from)
	if code >= 0 && code < rcodes {
		h.results[code].Add(1)
	}
	return reply
}

func (h *Handler) reply(ctx context.Context, query []byte, from netip.Addr) (reply []byte, code int) {
	var m dns.Msg
	if err := m.Unpack(query); err != nil {
		return unsigned(query, dns.RcodeFormatError), dns.RcodeFormatError
	}
	signature := m.IsTsig()
	if signature == nil {
		return unsigned(query, dns.RcodeRefused), dns.RcodeRefused
	}
	name := keyName(signature.Hdr.Name)
	key, has := h.o.Key(name)
	if !has || keyName(signature.Algorithm) != key.Algorithm {
		return tsigError(&m, signature, dns.RcodeBadKey, key, h.o.Now()), dns.RcodeNotAuth
	}
	switch err := dns.TsigVerify(query, key.Secret, "", false); {
	case errors.Is(err, dns.ErrTime):
		return tsigError(&m, signature, dns.RcodeBadTime, key, h.o.Now()), dns.RcodeNotAuth
	case err != nil:
		return tsigError(&m, signature, dns.RcodeBadSig, key, h.o.Now()), dns.RcodeNotAuth
	}
	code, repeated := h.recent.result(name, signature.MAC)
	if !repeated {
		code = h.result(ctx, &m, name, key, from)
		h.recent.add(name, signature.MAC, code)
	}
	return signed(&m, signature, key, code, h.o.Now()), code
}

// result makes the change of a verified message and returns the response code.
func (h *Handler) result(ctx context.Context, m *dns.Msg, name string, key Key, from netip.Addr) int {
	if b := h.paces.Bucket(name, tokenbucket.PerSecond(perSecond, burst), h.o.Now()); b == nil || !b.Take(h.o.Now()) {
		return dns.RcodeServerFailure
	}
	u, err := h.read(m, key)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, changeTimeout)
		defer cancel()
		err = h.o.Change(ctx, name, from, u.edit)
	}
	if err == nil {
		return dns.RcodeSuccess
	}
	code := codeOf(err)
	h.o.Logger.Warn().Str("key", name).Stringer("from", from).Str("zone", zoneOf(m)).Str("rcode", dns.RcodeToString[code]).
		Err(err).Msg("DNS UPDATE rejected")
	return code
}

func zoneOf(m *dns.Msg) string {
	if len(m.Question) == 0 {
		return ""
	}
	return keyName(m.Question[0].Name)
}

// keyName returns a name in lower case and without the final dot.
func keyName(name string) string { return strings.TrimSuffix(dns.CanonicalName(name), ".") }

// unsigned returns a response without records; nil if query has no complete header.
func unsigned(query []byte, code int) []byte {
	const header = 12
	if len(query) < header {
		return nil
	}
	reply := append([]byte(nil), query[:header]...)
	reply[2] = reply[2]&0x79 | 0x80 // QR; the opcode and RD stay
	reply[3] = byte(code)
	clear(reply[4:])
	return reply
}

// response returns the response to a message with a zone section and without other records.
func response(m *dns.Msg, code int) *dns.Msg {
	reply := new(dns.Msg)
	reply.Id, reply.Opcode, reply.Response, reply.Rcode = m.Id, m.Opcode, true, code
	reply.Question = m.Question
	return reply
}

// signed returns a response with the signature of the message's key (RFC 8945 section 5.3).
func signed(m *dns.Msg, signature *dns.TSIG, key Key, code int, now time.Time) []byte {
	reply := response(m, code)
	reply.Extra = []dns.RR{&dns.TSIG{
		Hdr:       dns.RR_Header{Name: signature.Hdr.Name, Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm: signature.Algorithm, TimeSigned: uint64(now.Unix()), Fudge: tsigFudge, OrigId: m.Id,
	}}
	wire, _, err := dns.TsigGenerate(reply, key.Secret, signature.MAC, false)
	if err != nil {
		return nil
	}
	return wire
}

// tsigFudge is the permitted difference between clocks in seconds (RFC 8945 section 10).
const tsigFudge = 300

// tsigError returns the NOTAUTH response to a message with an invalid signature (RFC 8945 section 5.2). It is signed
// only for BADTIME, and then has the time of this node.
func tsigError(m *dns.Msg, signature *dns.TSIG, code uint16, key Key, now time.Time) []byte {
	reply := response(m, dns.RcodeNotAuth)
	failed := &dns.TSIG{
		Hdr:       dns.RR_Header{Name: signature.Hdr.Name, Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm: signature.Algorithm, TimeSigned: signature.TimeSigned, Fudge: signature.Fudge, OrigId: m.Id, Error: code,
	}
	reply.Extra = []dns.RR{failed}
	if code == dns.RcodeBadTime {
		failed.OtherLen, failed.OtherData = 6, fmt.Sprintf("%012x", now.Unix())
		if wire, _, err := dns.TsigGenerate(reply, key.Secret, signature.MAC, false); err == nil {
			return wire
		}
	}
	wire, err := reply.Pack()
	if err != nil {
		return nil
	}
	return wire
}
