package dnsserver

import (
	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// outcome describes a reply except for its records.
type outcome struct {
	status    status
	rcode     int // including the extended bits
	flags     uint16
	extended  uint16 // extended error code; 0 if missing (RFC 8914)
	answers   uint16 // number of records in the answer section
	authority uint16 // number of records in the authority section
	tsig      []byte // TSIG record in wire form; nil if missing
}

// reply returns the reply to the current query, in the memory of out: the header, a copy of the question, and the
// answer, authority and additional sections. It returns nil for a message without reply.
func (r *responder) reply(query, out []byte) ([]byte, status) {
	q := r.request
	if q.ignored {
		// A message without a complete header receives no reply. A reply to a response could cause a loop.
		return nil, dropped
	}
	limit := r.maxResponseSize(out)
	var o outcome
	if !q.isLookup {
		o = r.refusedOutcome(query)
	}
	msg := append(out[:0], query[:q.end]...)
	if q.isLookup {
		msg = r.appendRecords(msg, limit, &o)
	}
	msg, additional := r.appendAdditional(out[:len(msg):limit], &o) // msg is in the memory of out
	questions := uint16(0)
	if q.end > headerSize {
		questions = 1
	}
	header(msg).setReply(o.rcode, o.flags, questions, o.answers, o.authority, additional)
	return msg, o.status
}

// appendRecords appends the answer and authority sections. If they and an OPT record exceed limit, it sets the TC flag
// instead. msg contains the header and the question.
func (r *responder) appendRecords(msg []byte, limit int, o *outcome) []byte {
	q := r.request
	opt := 0
	if q.edns.present {
		opt = r.optLength(0)
	}
	began := r.socketRecorder.StartSample()
	msg, answer := r.view().Append(msg[:q.end:limit-opt], &q.question, r.rotations)
	if answer.Selection.Input != nil && !answer.Truncated { // after truncation the client repeats the query over TCP
		number := r.socketRecorder.RecordAnswer(began, &answer.Selection, q.question.Client)
		if r.observers != nil {
			r.observers.selection, r.observers.decision = answer.Selection, number
		}
	}
	// The scope of a negative answer is 0 (RFC 7871 section 7.4), except after an alias that depends on the client.
	q.edns.setScope(answer.Scope)
	if q.question.Type == dns.TypeTXT {
		msg = r.appendExplanation(msg, &answer)
	}
	o.setKind(answer.Kind)
	if answer.Truncated {
		o.flags |= flagTruncated
	}
	o.answers, o.authority = answer.Answers, answer.Authority
	return msg
}

// setKind sets the outcome of a kind of answer. Positive and negative answers from zone data have the AA flag.
func (o *outcome) setKind(kind zone.Kind) {
	o.flags = flagAuthoritative
	switch kind {
	case zone.Positive:
		o.status = success
	case zone.NoData:
		o.status = noData
	case zone.NXDomain:
		o.status, o.rcode = nxDomain, dns.RcodeNameError
	case zone.Refused:
		*o = failureOutcome(dns.RcodeRefused, refused)
	case zone.Failed:
		*o = failureOutcome(dns.RcodeServerFailure, servFail)
	}
}
