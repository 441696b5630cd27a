package decisions

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// foldPace is how often the sockets' counts are summed, lookPace how often it is seen whether a table fills up before. Summing costs
	// by the names that were asked for, so it is not done more often than somebody may want to know.
	foldPace = 5 * time.Second
	lookPace = 100 * time.Millisecond
	// tableAge is how long a table is used, so that it does not keep for ever what answers of long ago followed from.
	tableAge = time.Minute
)

// Recorder sums up what the sockets note.
type Recorder struct {
	now   func() time.Time
	every atomic.Uint32 // one query in so many is sampled; 0: none

	mu      sync.Mutex
	sockets []*Socket
	known   known
	flows   flows
	totals  Totals
}

// New makes a Recorder that samples one query in so many, none for 0. A nil now means time.Now.
func New(sample int, now func() time.Time) *Recorder {
	if now == nil {
		now = time.Now
	}
	r := &Recorder{now: now, known: newKnown(), totals: newTotals()}
	r.Sample(sample)
	return r
}

// Sample samples one query in so many from now on, none for 0.
func (r *Recorder) Sample(every int) { r.every.Store(uint32(max(every, 0))) }

// Socket is for one goroutine that answers queries. A nil Recorder has none.
func (r *Recorder) Socket() *Socket {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Socket{shared: r, index: len(r.sockets), begun: r.now()}
	s.table.Store(newTable(smallBits))
	r.sockets = append(r.sockets, s)
	return s
}

func (r *Recorder) list() []*Socket {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sockets)
}

// Run sums up until ctx ends. It returns nil.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookPace)
	defer ticker.Stop()
	for last := r.now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if now := r.now(); now.Sub(last) >= foldPace || r.filling() {
			r.fold()
			last = now
		}
	}
}

// filling says whether a table is getting full.
func (r *Recorder) filling() bool {
	return slices.ContainsFunc(r.list(), func(s *Socket) bool { return s.table.Load().full() })
}

// fold adds what the sockets have counted since the last time.
func (r *Recorder) fold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	f := folder{into: r, now: now}
	for _, s := range r.sockets {
		// A table that was replaced may still have been written to until a moment after; by now nobody does.
		f.empty(s.old)
		s.old = nil
		t := s.table.Load()
		f.empty(t)
		switch used := t.used.Load(); {
		case t.full():
			s.replace(now, largeBits)
		case used > 0 && now.Sub(s.begun) >= tableAge:
			s.replace(now, bitsFor(used))
		}
	}
	f.total()
	r.flows.forget(now)
}

// replace gives the socket an empty table.
func (s *Socket) replace(now time.Time, bits int) {
	s.old, s.begun = s.table.Load(), now
	s.table.Store(newTable(bits))
}

// bitsFor is the size of table for so many kinds of answers.
func bitsFor(used uint32) int {
	if used < 1<<(smallBits-2) {
		return smallBits
	}
	return largeBits
}
