package dnsserver

import (
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/zone"
)

// behaviour is the part of the settings that all responders of a server share. Only its atomic values change.
type behaviour struct {
	view      func() *zone.View
	nsid      []byte // empty: none
	subnets   bool   // client subnet options count
	keepalive uint16 // idle timeout of TCP connections, in units of 100 ms
	secret    [16]byte
	limit     limiter
	udpSize   *atomic.Int32 // octets of the longest response over UDP
	decisions *decisions.Recorder
	why       Why                    // nil: not explained
	starts    func() *zone.Rotations // returns the first turns of a responder
	now       func() time.Time
	log       zerolog.Logger
}

// responder answers messages. It belongs to one goroutine at a time.
type responder struct {
	behaviour
	turns   *zone.Rotations
	limiter limiter
	counts  *counts
	noted   *decisions.Socket // nil: nothing is
	request *request          // that is being answered
	alone   request           // of respond
}

// respond answers one message in the memory of out, whose capacity must be minUDPSize at least, and counts the
// response. It returns nil if nothing is to be sent.
func (r *responder) respond(query []byte, from netip.Addr, tcp bool, out []byte) []byte {
	r.read(&r.alone, query, from, tcp)
	return r.answer(&r.alone, query, out)
}

// read reads any message for answer.
func (r *responder) read(q *request, query []byte, from netip.Addr, tcp bool) {
	defer func() { _ = recover() }() // answer reads the message again, and reports the fault
	q.from, q.tcp, q.whole, q.lookup = from, tcp, false, false
	q.read(query, r.subnets)
	q.whole = true
}

// fetch loads the memory that the answers to several requests need; see zone.View.Fetch. Where it fails, that is
// reported, and answer does without.
func (r *responder) fetch(requests []request) {
	defer func() {
		if fault := recover(); fault != nil {
			r.faulty("reading ahead for DNS queries failed", nil, fault)
		}
	}()
	var room [zone.MaxPrefetch]*zone.Question
	questions := room[:0]
	for i := range requests {
		if requests[i].lookup {
			questions = append(questions, &requests[i].question)
		}
	}
	r.view().Prefetch(questions, r.turns)
}

// answer answers a message that read has read; see respond.
func (r *responder) answer(q *request, query, out []byte) (reply []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			reply = r.failed(query, out, fault)
		}
	}()
	r.request = q
	if !q.whole {
		q.read(query, r.subnets)
	}
	reply, status := r.reply(query, out)
	r.counts.queries[status].Add(1)
	reply = r.limited(reply, status)
	if len(reply) >= headerSize && header(reply).flags()&flagTruncated != 0 {
		r.counts.truncated.Add(1)
	}
	return reply
}

// failed answers SERVFAIL to a query whose answer ended in a panic, so that one packet does not end the process. The
// fault is counted, and logged at ever greater intervals.
func (r *responder) failed(query, out []byte, fault any) []byte {
	r.counts.queries[servFail].Add(1)
	r.faulty("a DNS query could not be answered", query, fault)
	if len(query) < headerSize {
		return nil
	}
	reply := append(out[:0], query[:headerSize]...)
	header(reply).reply(dns.RcodeServerFailure, 0, 0, 0, 0, 0)
	return reply
}

// faulty counts a failure of the code, and logs the first, second, fourth, eighth and so on.
func (r *responder) faulty(what string, query []byte, fault any) {
	if n := r.counts.faults.Add(1); n&(n-1) == 0 {
		r.log.Error().Interface("fault", fault).Hex("query", query).Bytes("stack", debug.Stack()).Uint64("times", n).
			Msg(what + ": please report this with the query and the stack")
	}
}

// limit returns the greatest length of the response, in octets.
func (r *responder) limit(out []byte) int {
	limit := cap(out)
	if !r.request.tcp {
		size := minUDPSize
		if r.request.edns.present {
			size = min(max(int(r.request.edns.size), minUDPSize), int(r.udpSize.Load()))
		}
		limit = min(limit, size)
	}
	return limit
}

// status is the outcome of a query, for counting.
type status uint8

const (
	success status = iota
	noData
	nxDomain
	refused
	servFail
	formErr
	notImp
	badVers
	notAuth
	dropped
	statuses // the number of statuses
)

var statusNames = [statuses]string{"success", "nodata", "nxdomain", "refused", "servfail", "formerr", "notimp",
	"badvers", "notauth", "dropped"}
