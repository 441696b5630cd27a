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

// sharedSettings holds the settings that all responders of a server share. Only its atomic values change.
type sharedSettings struct {
	view                func() *zone.View
	nsid                []byte         // empty disables NSID
	clientSubnet        bool           // client subnet options are enabled
	proxies             []netip.Prefix // see Options.Proxies
	keepalive           uint16         // idle timeout of TCP connections in units of 100 ms
	secret              [16]byte
	rateLimiterTemplate rateLimiter
	udpSize             *atomic.Int32 // maximum UDP response size in octets
	recorder            *decisions.Recorder
	explain             ExplainFunc            // nil disables explanations
	updates             Updates                // nil: DNS UPDATE is not implemented
	newRotations        func() *zone.Rotations // returns the initial rotations of a responder
	now                 func() time.Time
	log                 zerolog.Logger
}

// responder answers queries. It must be used by one goroutine at a time.
type responder struct {
	sharedSettings
	rotations      *zone.Rotations
	rateLimiter    rateLimiter
	counts         *counts
	socketRecorder *decisions.SocketRecorder // nil disables recording
	observers      *observers                // nil without dnstap and query log
	request        *request                  // the current request
	single         request                   // memory for respond
}

// respond answers one message and counts the response. It uses the memory of out, which needs a capacity of at least
// minUDPSize. It returns nil if no response must be sent.
func (r *responder) respond(query []byte, from netip.Addr, tcp bool, out []byte) []byte {
	r.readRequest(&r.single, query, from, tcp)
	return r.answerRequest(&r.single, query, out)
}

// readRequest parses a message for answerRequest.
func (r *responder) readRequest(q *request, query []byte, from netip.Addr, tcp bool) {
	defer func() { _ = recover() }() // answerRequest repeats the parsing and reports the panic
	q.from, q.tcp, q.parsed, q.isLookup = from, tcp, false, false
	q.read(query, r.clientSubnet)
	q.parsed = true
}

// prefetch loads the memory for the answers to several requests; see zone.View.Prefetch. It reports a panic, which does
// not affect answerRequest.
func (r *responder) prefetch(requests []request) {
	defer func() {
		if fault := recover(); fault != nil {
			r.reportFault("prefetch for DNS queries failed", nil, fault)
		}
	}()
	var room [zone.MaxPrefetch]*zone.Question
	questions := room[:0]
	for i := range requests {
		if requests[i].isLookup {
			questions = append(questions, &requests[i].question)
		}
	}
	r.view().Prefetch(questions, r.rotations)
}

// answerRequest answers a parsed message; see respond.
func (r *responder) answerRequest(q *request, query, out []byte) (reply []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			reply = r.answerFault(query, out, fault)
		}
	}()
	r.request = q
	if r.observers != nil {
		r.observers.start()
	}
	if !q.parsed {
		q.read(query, r.clientSubnet)
	}
	reply, status := r.reply(query, out)
	r.counts.queries[status].Add(1)
	if r.observers != nil {
		r.observers.status = status
	}
	reply = r.applyRateLimit(reply, status)
	if len(reply) >= headerSize && header(reply).flags()&flagTruncated != 0 {
		r.counts.truncated.Add(1)
	}
	return reply
}

// answerFault answers SERVFAIL to a query that caused a panic, so that one packet cannot stop the process. It counts
// and logs the panic.
func (r *responder) answerFault(query, out []byte, fault any) []byte {
	r.counts.queries[servFail].Add(1)
	if r.observers != nil {
		r.observers.status = servFail
	}
	r.reportFault("answering a DNS query failed", query, fault)
	if len(query) < headerSize {
		return nil
	}
	reply := append(out[:0], query[:headerSize]...)
	header(reply).setReply(dns.RcodeServerFailure, 0, 0, 0, 0, 0)
	return reply
}

// reportFault counts a panic, and logs it if the count is a power of two.
func (r *responder) reportFault(what string, query []byte, fault any) {
	if n := r.counts.faults.Add(1); n&(n-1) == 0 {
		r.log.Error().Interface("fault", fault).Hex("query", query).Bytes("stack", debug.Stack()).Uint64("times", n).
			Msg(what + ": please report this with the query and the stack")
	}
}

// maxResponseSize returns the maximum size of the response in octets.
func (r *responder) maxResponseSize(out []byte) int {
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

// status is the outcome of a query in the metrics.
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
	dropped  // without a response
	statuses // number of statuses
)

// statusNames contains the outcomes that filters can select, and dropped.
var statusNames = [statuses]string{"success", "nodata", "nxdomain", "refused", "servfail", "formerr", "notimp",
	"badvers", "notauth", "dropped"}
