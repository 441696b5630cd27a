package dnsupdate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/shared/tokenbucket"
)

// verified is a message with a valid signature.
type verified struct {
	message   dns.Msg
	signature *dns.TSIG
	name      string // of the key
	key       Key
	from      netip.Addr
}

// verify checks the signature of a message. Without a valid signature, valid is nil and reply is the response; nil if
// the message is no DNS message. It can be called concurrently. Only its last line sets valid, so that valid is nil
// after a panic.
func (h *Handler) verify(query []byte, from netip.Addr) (valid *verified, reply []byte) {
	defer h.recoverWith(query, &reply)
	v := &verified{from: from}
	m := &v.message
	if err := m.Unpack(query); err != nil {
		return nil, h.counted(unsigned(query, dns.RcodeFormatError), dns.RcodeFormatError)
	}
	if v.signature = m.IsTsig(); v.signature == nil {
		return nil, h.counted(unsigned(query, dns.RcodeRefused), dns.RcodeRefused)
	}
	v.name = keyName(v.signature.Hdr.Name)
	has, now := false, h.o.Now()
	if v.key, has = h.o.Key(v.name); !has || keyName(v.signature.Algorithm) != v.key.Algorithm {
		return nil, h.notAuth(v, dns.RcodeBadKey, now)
	}
	err := dns.TsigVerify(query, v.key.Secret, "", false)
	apart := now.Sub(time.Unix(int64(min(v.signature.TimeSigned, math.MaxInt32)), 0)).Abs() // a client may send any fudge
	switch {
	case errors.Is(err, dns.ErrTime) || err == nil && apart > tsigFudge*time.Second:
		return nil, h.notAuth(v, dns.RcodeBadTime, now)
	case err != nil:
		return nil, h.notAuth(v, dns.RcodeBadSig, now)
	}
	return v, nil
}

// notAuth logs and counts a message with an invalid signature, and returns its response.
func (h *Handler) notAuth(v *verified, code uint16, now time.Time) []byte {
	last := h.loggedFailure.Load()
	if now.UnixNano()-last >= int64(failureLogInterval) && h.loggedFailure.CompareAndSwap(last, now.UnixNano()) {
		h.o.Logger.Warn().Str("key", v.name).Stringer("from", v.from).Str("tsig_error", dns.RcodeToString[int(code)]).
			Msg("DNS UPDATE rejected: its signature is invalid; at most one such message is logged per second")
	}
	return h.counted(tsigError(&v.message, v.signature, code, v.key, now), dns.RcodeNotAuth)
}

// counted counts a response and returns it.
func (h *Handler) counted(reply []byte, code int) []byte {
	if code >= 0 && code < rcodes {
		h.results[code].Add(1)
	}
	return reply
}

// recoverWith handles a panic: it sets the response SERVFAIL, so that a message cannot end the process.
func (h *Handler) recoverWith(query []byte, reply *[]byte) {
	if fault := recover(); fault != nil {
		h.o.Logger.Error().Interface("panic", fault).Bytes("stack", debug.Stack()).Msg("DNS UPDATE message failed")
		*reply = h.counted(unsigned(query, dns.RcodeServerFailure), dns.RcodeServerFailure)
	}
}

// answer makes the change of a message and returns its response. One change is made at a time; a message waits for its
// turn at most changeTimeout.
func (h *Handler) answer(ctx context.Context, v *verified) (reply []byte) {
	header := make([]byte, 12)
	if packed, err := response(&v.message, dns.RcodeSuccess).Pack(); err == nil {
		copy(header, packed)
	}
	defer h.recoverWith(header, &reply)
	wait := time.NewTimer(changeTimeout)
	defer wait.Stop()
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-wait.C:
		h.dropped.Add(1)
		return h.counted(signed(&v.message, v.signature, v.key, dns.RcodeServerFailure, h.o.Now()), dns.RcodeServerFailure)
	}
	now := h.o.Now()
	code, repeated := h.recent.result(v.name, v.signature.MAC, now)
	if !repeated {
		var counts bool
		if code, counts = h.result(ctx, v); counts {
			h.recent.add(v.name, v.signature.MAC, code, now)
		}
	}
	return h.counted(signed(&v.message, v.signature, v.key, code, h.o.Now()), code)
}

// result makes the change of a verified message and returns the response code. counts is false if the rate of the key
// rejects the message, so that a repetition is another message.
func (h *Handler) result(ctx context.Context, v *verified) (code int, counts bool) {
	if b := h.paces.Bucket(v.name, tokenbucket.PerSecond(perSecond, burst), h.o.Now()); b == nil || !b.Take(h.o.Now()) {
		return dns.RcodeServerFailure, false
	}
	u, err := h.read(&v.message, v.key)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, changeTimeout)
		defer cancel()
		err = h.o.Change(ctx, v.name, v.from, u.edit)
	}
	if err == nil {
		return dns.RcodeSuccess, true
	}
	code = codeOf(err)
	h.o.Logger.Warn().Str("key", v.name).Stringer("from", v.from).Str("zone", zoneOf(&v.message)).
		Str("rcode", dns.RcodeToString[code]).Err(err).Msg("DNS UPDATE rejected")
	return code, true
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
