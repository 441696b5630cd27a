package dnsserver

import (
	"context"
	"net/netip"
	"slices"

	"github.com/miekg/dns"
)

// Updates answers DNS UPDATE messages (RFC 2136). Its methods are safe for concurrent use. The server passes only
// messages with a TSIG record of a known key, so that a flood of other messages costs as little as a flood of queries.
type Updates interface {
	// IsEnabled reports whether there are keys. Without keys, the server does not implement UPDATE. It must not block.
	IsEnabled() bool
	// HasKey reports whether a key with a name exists. It must not block.
	HasKey(name string) bool
	// Submit takes a message that arrived over UDP, and later calls send with its response. It returns false if too many
	// messages wait. It must not block, and owns query.
	Submit(query []byte, from netip.Addr, send func(reply []byte)) bool
	// Answer returns the response to a message that arrived over TCP; nil without a response. It can block for some
	// seconds, and owns query.
	Answer(ctx context.Context, query []byte, from netip.Addr) []byte
}

// isUpdate reports whether Updates answers a parsed message.
func (r *responder) isUpdate(q *request, query []byte) bool {
	if r.updates == nil || !q.parsed || q.ignored || header(query).opcode() != dns.OpcodeUpdate || q.tsig == 0 ||
		q.rcode != dns.RcodeSuccess {
		return false
	}
	key, _, err := dns.UnpackDomainName(query, q.tsig)
	return err == nil && r.updates.HasKey(key)
}

// updateOutcome returns the outcome of a DNS UPDATE message that Updates does not answer.
func (r *responder) updateOutcome(query []byte) outcome {
	q := r.request
	switch {
	case q.rcode != dns.RcodeSuccess:
		return failureOutcome(q.rcode, formErr)
	case q.tsig != 0:
		return badKeyOutcome(query, q.tsig)
	}
	o := failureOutcome(dns.RcodeRefused, refused)
	o.extended = dns.ExtendedErrorCodeProhibited
	return o
}

// answerUpdate answers a DNS UPDATE message of a connection. It returns false for other messages.
func (t *tcpServer) answerUpdate(query []byte, from netip.Addr) (reply []byte, isUpdate bool) {
	r := t.responder
	if r.updates == nil || header(query).opcode() != dns.OpcodeUpdate {
		return nil, false
	}
	var q request
	r.readRequest(&q, query, from, true)
	if !r.isUpdate(&q, query) {
		return nil, false
	}
	return r.updates.Answer(context.Background(), slices.Clone(query), from), true
}
