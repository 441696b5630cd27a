package history

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// every is the interval between readings.
	every = 10 * time.Second
	// window is the time span of current rates.
	window = time.Minute
	// Minutes and Hours are the maximum numbers of stored points of each length.
	Minutes = 24 * 60
	Hours   = 30 * 24
)

// Options configures a Recorder.
type Options struct {
	Read   func() Reading // must be safe for concurrent use
	Path   string         // file that stores the points across restarts
	Logger zerolog.Logger
	Now    func() time.Time // nil: time.Now
}

// Recorder records the history of a node.
type Recorder struct {
	o Options

	mu     sync.Mutex
	recent []Reading // readings of the last window and the last older reading, oldest first
	minute series
	hour   series
}

// series holds points of the same length.
type series struct {
	length time.Duration
	keep   int
	last   Reading // start of the next point
	points []Point // oldest first
}

// Open continues the history in the file. If the file is unreadable, Open logs the error and starts an empty history.
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

// Run takes readings until ctx ends. It saves the points each hour and at the end.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			r.saveFile()
			return nil
		case <-ticker.C:
			if r.addReading() {
				r.saveFile()
			}
		}
	}
}

// saveFile saves the points to the file. It only logs an error, because the node works without the file.
func (r *Recorder) saveFile() {
	if err := r.save(); err != nil {
		r.o.Logger.Warn().Err(err).Msg("the history of metrics could not be saved")
	}
}

// addReading reads the counters and adds completed points. It reports whether it added an hourly point.
func (r *Recorder) addReading() (hour bool) {
	now := r.o.Read()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = append(r.recent, now)
	for len(r.recent) > 2 && now.At.Sub(r.recent[1].At) >= window {
		r.recent = r.recent[1:]
	}
	r.minute.addPoint(now)
	return r.hour.addPoint(now)
}

// addPoint adds a point if a minute or an hour of the wall clock, according to s.length, has passed. It reports whether
// it added the point.
func (s *series) addPoint(now Reading) bool {
	begun := now.At.Truncate(s.length)
	if !begun.After(s.last.At.Truncate(s.length)) {
		if now.At.Before(s.last.At.Add(-s.length)) { // the wall clock was set back
			s.last = now
		}
		return false
	}
	s.points = append(s.points, pointOf(&Span{s.last, now}, begun.UTC()))
	s.points = s.points[max(len(s.points)-s.keep, 0):]
	s.last = now
	return true
}

// Now returns the span of the last minute, or since the start of the process if that is shorter.
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

// Points returns the points in (from, to], oldest first. Points at resolutions of 1 and 5 minutes cover the last day.
// Points at a resolution of an hour cover the last 30 days.
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
