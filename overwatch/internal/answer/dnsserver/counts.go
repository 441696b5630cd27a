package dnsserver

import "sync/atomic"

// counts holds the counters of one responder. Only its goroutine writes them, which avoids contention for cache lines.
// Readers add up the counters of all responders.
type counts struct {
	queries   [statuses]atomic.Uint64
	truncated atomic.Uint64
	unsent    atomic.Uint64 // responses that the kernel did not send
	stale     atomic.Uint64 // queries that expired in the receive buffer
	unproxied atomic.Uint64 // messages and connections of proxies without a valid header of the PROXY protocol
	// Responses that the rate limit truncated or dropped.
	rateLimitTruncated, rateLimitDropped atomic.Uint64
	faults                               atomic.Uint64 // queries that caused a panic
	timer                                batchTimer
	_                                    [64]byte // separates the counters of the next responder from this cache line
}
