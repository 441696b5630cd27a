package dnsserver

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/dnstap"
	"gslb.internal/overwatch/internal/answer/querylog"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/zonefile"
)

// filter selects queries for dnstap or for the query log.
type filter struct {
	every    uint32              // one in so many of the other conditions' queries is selected; 0: none
	names    map[string]struct{} // names in wire form and lower case, with the names below them; nil: all
	types    []uint16            // empty: all
	outcomes [statuses]bool
}

// newFilter returns the filter of a valid configuration.
func newFilter(c *config.QueryFilter) *filter {
	f := &filter{every: uint32(c.Sample)}
	for _, name := range c.Names {
		var wire [maxName]byte
		n, err := dns.PackDomainName(dns.Fqdn(strings.ToLower(name)), wire[:], 0, nil, false)
		if err != nil {
			continue // validated
		}
		if f.names == nil {
			f.names = map[string]struct{}{}
		}
		f.names[string(wire[:n])] = struct{}{}
	}
	for _, name := range c.Types {
		f.types = append(f.types, zonefile.ParseType(name))
	}
	for i, name := range statusNames {
		f.outcomes[i] = status(i) != dropped && (len(c.Outcomes) == 0 || slices.Contains(c.Outcomes, name))
	}
	return f
}

// passes reports whether a query with its outcome meets the conditions of the filter.
func (f *filter) passes(q *request, s status) bool {
	if !f.outcomes[s] || len(f.types) > 0 && !slices.Contains(f.types, q.question.Type) {
		return false
	}
	if f.names == nil {
		return true
	}
	for name := q.question.Name; len(name) > 0; name = name[1+int(name[0]):] {
		if _, listed := f.names[string(name)]; listed {
			return true
		}
	}
	return false
}

// sampler selects one in so many of the queries that pass a filter.
type sampler struct {
	filter *atomic.Pointer[filter] // shared by the responders; nil: no queries
	passed uint32                  // queries since the last selected query
}

func (s *sampler) selects(q *request, o status) bool {
	f := s.filter.Load()
	if f == nil || f.every == 0 || !f.passes(q, o) {
		return false
	}
	if s.passed++; s.passed < f.every {
		return false
	}
	s.passed = 0
	return true
}

// observers passes queries and their responses to dnstap and to the query log. Each responder with one of them has
// observers. Recording a query does not wait and does not allocate.
type observers struct {
	tap      *dnstap.Worker   // nil disables dnstap
	log      *querylog.Worker // nil disables the query log
	tapped   sampler
	logged   sampler
	recorder *decisions.SocketRecorder

	// The current query.
	received  time.Time
	status    status
	selection zone.Selection // Input is nil for an answer that is not load-balanced
	decision  uint64         // number of the load-balanced answer

	isTapped, isLogged bool

	message dnstap.Message
	extra   [dnstap.MaxExtra]byte
	entry   querylog.Entry
}

// start begins a query. The other fields of the current query follow while it is answered.
func (o *observers) start() { o.selection.Input = nil }

// isSelected reports whether the answered query must be recorded.
func (o *observers) isSelected(q *request) bool {
	o.isTapped = o.tap != nil && o.tapped.selects(q, o.status)
	o.isLogged = o.log != nil && o.logged.selects(q, o.status)
	return o.isTapped || o.isLogged
}

// record records a query with its response, which is nil if no response is sent. client and server are the source and
// the destination of the query.
func (r *responder) record(query, response []byte, client, server netip.AddrPort) {
	defer func() {
		if fault := recover(); fault != nil {
			r.reportFault("recording a DNS query failed", query, fault)
		}
	}()
	o, q := r.observers, r.request
	if o.isTapped {
		o.message = dnstap.Message{Query: query, Response: response, Client: client, Server: server, TCP: q.tcp,
			Received: o.received, Sent: time.Now(), Extra: o.appendExtra(o.extra[:0])}
		o.tap.Record(&o.message)
	}
	if o.isLogged {
		o.entry = querylog.Entry{At: o.received, Client: q.client(), Name: q.question.Name, Type: q.question.Type,
			Outcome: statusNames[o.status], TCP: q.tcp, Dropped: response == nil, Selection: o.selection, Decision: o.decision,
			Truncated: len(response) >= headerSize && header(response).flags()&flagTruncated != 0}
		o.log.Record(&o.entry)
	}
}

// appendExtra appends the id of the decision and the generation of its input, for a load-balanced answer.
func (o *observers) appendExtra(out []byte) []byte {
	if o.selection.Input == nil {
		return out
	}
	out = o.recorder.AppendID(append(out, "decision="...), o.decision)
	return strconv.AppendUint(append(out, " generation="...), o.selection.Input.Generation, 10)
}
