package dnsserver

import "sync/atomic"

// counts are the counters of one responder. Only its goroutine writes them, so that cores do not contend for a cache
// line; readers sum those of all responders.
type counts struct {
	queries   [statuses]atomic.Uint64
	truncated atomic.Uint64
	unsent    atomic.Uint64 // responses that the kernel did not take
	stale     atomic.Uint64 // queries that were given up since they had waited too long
	// Responses that the rate limit replaced or kept back.
	limitedTruncated, limitedDropped atomic.Uint64
	faults                           atomic.Uint64 // queries over which the code failed
	clock                            clock
	_                                [64]byte // keeps the next responder's counters off this cache line
}
