package trust

import (
	"sync"
	"time"
)

// Bounds of the log lines for each reason, at once and in a minute over time: else whoever has a service's token could
// fill the disk by enrolling.
const (
	linesBurst     = 200
	linesPerMinute = 60
)

// lines bounds log lines by reason; reasons are a closed set.
type lines struct {
	mu      sync.Mutex
	buckets map[string]*bucket
	left    map[string]int
}

func newLines() *lines { return &lines{buckets: make(map[string]*bucket), left: make(map[string]int)} }

// take reports whether a line may be written, and how many of its reason were left out since the last one.
func (l *lines) take(reason string, now time.Duration) (leftOut int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[reason]
	if b == nil {
		b = &bucket{rate: linesPerMinute / 60., size: linesBurst, level: linesBurst, at: now}
		l.buckets[reason] = b
	}
	if !b.take(now) {
		l.left[reason]++
		return 0, false
	}
	leftOut = l.left[reason]
	delete(l.left, reason)
	return leftOut, true
}
