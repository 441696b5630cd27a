package dnsserver

import (
	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// outcome is what a reply says beside its records.
type outcome struct {
	status    status
	rcode     int // with the extended bits
	flags     uint16
	extended  uint16 // extended error, 0 for none (RFC 8914)
	answers   uint16 // records in the answer section
	authority uint16 // records in the authority section
	tsig      []byte // TSIG record in wire form, nil for none
}

// reply returns the reply to the query that is being answered, in the memory of out: the header and the question as
// they came, the answer and authority sections, and the additional section. It returns nil for a message that gets no
// reply.
func (r *responder) reply(query, out []byte) ([]byte, status) {
	q := r.request
	if q.ignored {
		// A message without a whole header cannot be answered, and answering a response could begin a loop.
		return nil, dropped
	}
	limit := r.limit(out)
	var o outcome
	if !q.lookup {
		o = r.refuse(query)
	}
	msg := append(out[:0], query[:q.end]...)
	if q.lookup {
		msg = r.appendRecords(msg, limit, &o)
	}
	msg, additional := r.appendAdditional(out[:len(msg):limit], &o) // msg lies in out
	questions := uint16(0)
	if q.end > headerSize {
		questions = 1
	}
	header(msg).reply(o.rcode, o.flags, questions, o.answers, o.authority, additional)
	return msg, o.status
}

// appendRecords appends the answer and authority sections, or sets the TC flag if they do not fit into the limit with
// an OPT record behind them. msg has the header and the question.
func (r *responder) appendRecords(msg []byte, limit int, o *outcome) []byte {
	q := r.request
	opt := 0
	if q.edns.present {
		opt = r.optLength(0)
	}
	began := r.noted.Begin()
	msg, answer := r.view().Append(msg[:q.end:limit-opt], &q.question, r.turns)
	if answer.Selection.Input != nil && !answer.Truncated { // a client that is sent to TCP asks again
		r.noted.Note(began, &answer.Selection, q.question.Client)
	}
	// The scope of a negative answer is 0 (RFC 7871 section 7.4), unless an alias before it depends on the client.
	q.edns.setScope(answer.Scope)
	if q.question.Type == dns.TypeTXT {
		msg = r.explain(msg, &answer)
	}
	o.set(answer.Kind)
	if answer.Truncated {
		o.flags |= flagTruncated
	}
	o.answers, o.authority = answer.Answers, answer.Authority
	return msg
}

// set sets the outcome of a kind of answer. The AA flag belongs to answers from a zone's data, negative ones included.
func (o *outcome) set(kind zone.Kind) {
	o.flags = flagAuthoritative
	switch kind {
	case zone.Positive:
		o.status = success
	case zone.NoData:
		o.status = noData
	case zone.NXDomain:
		o.status, o.rcode = nxDomain, dns.RcodeNameError
	case zone.Refused:
		*o = failure(dns.RcodeRefused, refused)
	case zone.Failed:
		*o = failure(dns.RcodeServerFailure, servFail)
	}
}
