package dnsserver

import (
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/zone"
)

// behaviour is what all responders of a server share; it does not change.
type behaviour struct {
	view      func() *zone.View
	nsid      []byte // empty: not told
	subnets   bool   // client subnet options are understood
	keepalive uint16 // idle timeout of TCP connections, in units of 100 ms
	secret    [16]byte
	now       func() time.Time
}

// responder answers messages. It belongs to one goroutine at a time.
type responder struct {
	behaviour
	turns   *zone.Turns
	counts  *counts
	request request
}

// respond answers one message in the room that out has, which must be minUDPSize at least. It returns nil when there
// is nothing to send. The response is counted.
func (r *responder) respond(query []byte, from netip.Addr, tcp bool, out []byte) []byte {
	r.request.from, r.request.tcp = from, tcp
	reply, status, ok := r.fast(query, out)
	if !ok {
		reply, status = r.slow(query, out)
	}
	r.counts.queries[status].Add(1)
	if len(reply) >= headerSize && header(reply).flags()&flagTruncated != 0 {
		r.counts.truncated.Add(1)
	}
	return reply
}

// limit is how long the response may be.
func (r *responder) limit(out []byte) int {
	limit := cap(out)
	if !r.request.tcp {
		size := minUDPSize
		if r.request.edns.present {
			size = min(max(int(r.request.edns.size), minUDPSize), udpSize)
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
	dropped
	statuses // how many there are
)

var statusNames = [statuses]string{"success", "nodata", "nxdomain", "refused", "servfail", "formerr", "notimp", "badvers", "dropped"}

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
