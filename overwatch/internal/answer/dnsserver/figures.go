package dnsserver

import (
	"time"

	"gslb.internal/overwatch/internal/leaf/histogram"
)

// timedOneIn is the number of batches of which one is timed: enough for percentiles, at next to no cost.
const timedOneIn = 8

// clock measures the time that some of one responder's batches take.
type clock struct {
	batches uint
	times   histogram.Counter
}

// begin is called when a batch has been read. It returns the zero time for a batch that is not timed.
func (c *clock) begin() time.Time {
	c.batches++
	if c.batches%timedOneIn != 0 {
		return time.Time{}
	}
	return time.Now()
}

// end is called when the answers to the batch's n queries have been given to the kernel.
func (c *clock) end(began time.Time, n int) {
	if !began.IsZero() {
		c.times.Add(time.Since(began), n)
	}
}

// Figures are totals since the start.
type Figures struct {
	Queries uint64
	Failed  uint64 // answered SERVFAIL
	// Times are those from reading a query to giving its answer to the kernel, of one batch in timedOneIn.
	Times histogram.Snapshot
}

// Figures sums what the responders counted. It may be called from any goroutine.
func (s *Server) Figures() (f Figures) {
	for _, counts := range s.counts {
		for status := range counts.queries {
			f.Queries += counts.queries[status].Load()
		}
		f.Failed += counts.queries[servFail].Load()
		counts.clock.times.AddTo(&f.Times)
	}
	return f
}
