package dnsserver

import (
	"time"

	"gslb.internal/overwatch/internal/leaf/histogram"
)

// timerInterval is the number of batches per measured batch: sufficient for percentiles at negligible cost.
const timerInterval = 8

// batchTimer measures the processing time of one in timerInterval batches of a responder.
type batchTimer struct {
	batches uint
	times   histogram.Counter
}

// start must be called when a batch was received. It returns zero for a batch that is not measured.
func (c *batchTimer) start() time.Time {
	c.batches++
	if c.batches%timerInterval != 0 {
		return time.Time{}
	}
	return time.Now()
}

// stop must be called when the n answers of the batch were passed to the kernel.
func (c *batchTimer) stop(began time.Time, n int) {
	if !began.IsZero() {
		c.times.Add(time.Since(began), n)
	}
}

// Stats holds totals since the start.
type Stats struct {
	Queries uint64
	Failed  uint64 // queries with the answer SERVFAIL
	// Times is the time from receiving a query to passing its answer to the kernel, measured for one in timerInterval
	// batches.
	Times histogram.Snapshot
}

// Stats returns the totals of all responders. It is safe for concurrent use.
func (s *Server) Stats() (f Stats) {
	for _, counts := range s.counts {
		for status := range counts.queries {
			f.Queries += counts.queries[status].Load()
		}
		f.Failed += counts.queries[servFail].Load()
		counts.timer.times.AddTo(&f.Times)
	}
	return f
}
