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

// behaviour is what all responders of a server share; it does not change, but for what is atomic.
type behaviour struct {
	view      func() *zone.View
	nsid      []byte // empty: not told
	subnets   bool   // client subnet options are understood
	keepalive uint16 // idle timeout of TCP connections, in units of 100 ms
	secret    [16]byte
	limit     limiter
	udpSize   *atomic.Int32 // octets of the longest response over UDP
	decisions *decisions.Recorder
	why       Why                // nil: nobody
	starts    func() *zone.Turns // of each responder
	now       func() time.Time
	log       zerolog.Logger
}

// responder answers messages. It belongs to one goroutine at a time.
type responder struct {
	behaviour
	turns   *zone.Turns
	limiter limiter
	counts  *counts
	noted   *decisions.Socket // nil: nothing is
	request *request          // that is being answered
	alone   request           // of respond
}

// respond answers one message in the room that out has, which must be minUDPSize at least. It returns nil when there
// is nothing to send. The response is counted.
func (r *responder) respond(query []byte, from netip.Addr, tcp bool, out []byte) []byte {
	r.read(&r.alone, query, from, tcp)
	return r.answer(&r.alone, query, out)
}

// read reads a message for answer, whatever it is.
func (r *responder) read(q *request, query []byte, from netip.Addr, tcp bool) {
	defer func() {
		if recover() != nil {
			q.simple = false // the slow path reads the message again, and answer reports the fault
		}
	}()
	q.from, q.tcp, q.simple = from, tcp, false
	q.simple = q.readSimple(query, r.subnets)
}

// fetch reads the memory that the answers to several requests need; see zone.View.Fetch.
func (r *responder) fetch(requests []request) {
	var room [zone.MaxFetch]*zone.Question
	questions := room[:0]
	for i := range requests {
		if requests[i].simple {
			questions = append(questions, &requests[i].question)
		}
	}
	r.view().Fetch(questions, r.turns)
}

// answer answers a message that was read; see respond.
func (r *responder) answer(q *request, query, out []byte) (reply []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			reply = r.confess(query, out, fault)
		}
	}()
	r.request = q
	reply, status, ok := r.fast(query, out)
	if !ok {
		reply, status = r.slow(query, out)
	}
	r.counts.queries[status].Add(1)
	reply = r.limited(reply, status)
	if len(reply) >= headerSize && header(reply).flags()&flagTruncated != 0 {
		r.counts.truncated.Add(1)
	}
	return reply
}

// confess answers a query over which the code has failed. One packet must not end the process, and with it the answers
// to everybody; so the fault is logged, at the first and then ever rarer times, and exported, and the client asks
// elsewhere.
func (r *responder) confess(query, out []byte, fault any) []byte {
	r.counts.queries[servFail].Add(1)
	r.faulty(query, fault)
	if len(query) < headerSize {
		return nil
	}
	reply := append(out[:0], query[:headerSize]...)
	header(reply).reply(dns.RcodeServerFailure, 0, 0, 0, 0, 0)
	return reply
}

// faulty counts and tells a failure of the code.
func (r *responder) faulty(query []byte, fault any) {
	if n := r.counts.faults.Add(1); n&(n-1) == 0 {
		r.log.Error().Interface("fault", fault).Hex("query", query).Bytes("stack", debug.Stack()).Uint64("times", n).
			Msg("a DNS query could not be answered: please report this with the query and the stack")
	}
}

// limit is how long the response may be.
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

// status is what became of a query, for counting.
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
	statuses // how many there are
)

var statusNames = [statuses]string{"success", "nodata", "nxdomain", "refused", "servfail", "formerr", "notimp",
	"badvers", "notauth", "dropped"}

// outcome is the response code and the status of each kind of answer.
func outcome(kind zone.Kind) (rcode int, s status) {
	switch kind {
	case zone.NoData:
		return dns.RcodeSuccess, noData
	case zone.NXDomain:
		return dns.RcodeNameError, nxDomain
	case zone.Refused:
		return dns.RcodeRefused, refused
	case zone.Failed:
		return dns.RcodeServerFailure, servFail
	}
	return dns.RcodeSuccess, success
}

// authoritative is the AA flag where it belongs: on answers from a zone's data, the negative ones included.
func authoritative(rcode int) uint16 {
	if rcode == dns.RcodeSuccess || rcode == dns.RcodeNameError {
		return flagAuthoritative
	}
	return 0
}
