package history

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// every is the time between two readings.
	every = 10 * time.Second
	// window is the length of the span of current rates.
	window = time.Minute
	// Minutes and Hours bound how many points are kept of each.
	Minutes = 24 * 60
	Hours   = 30 * 24
)

// Options configures a Recorder.
type Options struct {
	Read   func() Reading // may be called from any goroutine
	Path   string         // of the file that carries the points over a restart
	Logger zerolog.Logger
	Now    func() time.Time // nil is time.Now
}

// Recorder keeps the history of one node.
type Recorder struct {
	o Options

	mu     sync.Mutex
	recent []Reading // of the last window, and one that is older; the oldest first
	minute series
	hour   series
}

// series holds points of one length.
type series struct {
	length time.Duration
	keep   int
	last   Reading // where the next point begins
	points []Point // the oldest first
}

// Open continues the history in the file. A file that cannot be read is logged, and a new history begins.
func Open(o Options) (*Recorder, error) {
	if o.Read == nil || o.Path == "" {
		return nil, errors.New("history: Options.Read and Path are needed")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	first := o.Read()
	r := &Recorder{
		o: o, recent: []Reading{first},
		minute: series{length: time.Minute, keep: Minutes, last: first},
		hour:   series{length: time.Hour, keep: Hours, last: first},
	}
	if err := r.load(); err != nil {
		o.Logger.Warn().Err(err).Str("file", o.Path).Msg("the history of metrics could not be read and begins anew")
	}
	return r, nil
}

// Run takes readings until ctx ends, then saves. It also saves each hour.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			r.keep()
			return nil
		case <-ticker.C:
			if r.take() {
				r.keep()
			}
		}
	}
}

// keep saves the points into the file. An error is only logged: the node goes on without the file.
func (r *Recorder) keep() {
	if err := r.save(); err != nil {
		r.o.Logger.Warn().Err(err).Msg("the history of metrics could not be saved")
	}
}

// take takes one reading and makes the points that are due. It reports whether an hour is over.
func (r *Recorder) take() (hour bool) {
	now := r.o.Read()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = append(r.recent, now)
	for len(r.recent) > 2 && now.At.Sub(r.recent[1].At) >= window {
		r.recent = r.recent[1:]
	}
	r.minute.take(now)
	return r.hour.take(now)
}

// take makes a point when the time of one is over by the wall clock.
func (s *series) take(now Reading) bool {
	begun := now.At.Truncate(s.length)
	if !begun.After(s.last.At.Truncate(s.length)) {
		if now.At.Before(s.last.At.Add(-s.length)) { // the wall clock went back
			s.last = now
		}
		return false
	}
	s.points = append(s.points, pointOf(&Span{s.last, now}, begun.UTC()))
	s.points = s.points[max(len(s.points)-s.keep, 0):]
	s.last = now
	return true
}

// Now returns the last minute, or as much of it as the process has run.
func (r *Recorder) Now() Span {
	now := r.o.Read()
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.recent[0]
	for _, reading := range r.recent {
		if now.At.Sub(reading.At) >= window {
			from = reading
		}
	}
	return Span{from, now}
}

// Points lists the points in (from, to], the oldest first. Resolutions of one and five minutes reach back a day, that
// of an hour thirty days.
func (r *Recorder) Points(from, to time.Time, resolution time.Duration) []Point {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.minute
	if resolution >= time.Hour {
		s = &r.hour
	}
	var found []Point
	var group []Point
	flush := func() {
		if len(group) > 0 {
			found = append(found, join(group, group[0].At.Add(resolution-1).Truncate(resolution)))
		}
		group = nil
	}
	for _, p := range s.points {
		if !p.At.After(from) || p.At.After(to) {
			continue
		}
		if resolution == s.length {
			found = append(found, p)
			continue
		}
		if len(group) > 0 && p.At.Add(-1).Truncate(resolution) != group[0].At.Add(-1).Truncate(resolution) {
			flush()
		}
		group = append(group, p)
	}
	flush()
	return found
}
