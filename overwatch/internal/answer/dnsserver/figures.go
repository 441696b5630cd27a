package dnsserver

import (
	"time"

	"gslb.internal/overwatch/internal/leaf/histogram"
)

// timedOneIn is how many batches there are to each whose time is taken: enough for percentiles, and next to free.
const timedOneIn = 8

// clock takes the time of some of the batches of one responder.
type clock struct {
	batches uint
	times   histogram.Counter
}

// begin is called when queries were read. It returns the zero time when their time is not taken.
func (c *clock) begin() time.Time {
	c.batches++
	if c.batches%timedOneIn != 0 {
		return time.Time{}
	}
	return time.Now()
}

// end is called when the answers to n queries were given to the kernel.
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
