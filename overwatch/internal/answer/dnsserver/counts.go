package dnsserver

import "sync/atomic"

// counts is what one responder counts. Nobody else writes it, so that counting costs no core anything of another's; it
// is summed when somebody looks.
type counts struct {
	queries   [statuses]atomic.Uint64
	truncated atomic.Uint64
	unsent    atomic.Uint64 // responses that the kernel did not take
	stale     atomic.Uint64 // queries that were given up since they had waited too long
	// Responses that the rate limit replaced or kept back.
	limitedTruncated, limitedDropped atomic.Uint64
	faults                           atomic.Uint64 // queries over which the code failed
	clock                            clock
	_                                [64]byte // keeps the next one's off this cache line
}
