package trust

import (
	"sync"
	"time"

	"gslb.internal/shared/tokenbucket"
)

// Limits of the log lines for each reason. Any host with the token of a service can enroll agents and cause lines.
const (
	linesBurst     = 200
	linesPerMinute = 60
)

// lines limits log lines by reason. The reasons are a closed set.
type lines struct {
	mu      sync.Mutex
	buckets map[string]*tokenbucket.Bucket
	left    map[string]int
}

func newLines() *lines {
	return &lines{buckets: make(map[string]*tokenbucket.Bucket), left: make(map[string]int)}
}

// allowLine reports whether a line may be written, and the number of omitted lines of its reason since the last line.
func (l *lines) allowLine(reason string, now time.Duration) (leftOut int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[reason]
	if b == nil {
		full := tokenbucket.New(tokenbucket.PerSecond(linesPerMinute/60., linesBurst))
		b = &full
		l.buckets[reason] = b
	}
	if !b.Take(instant(now)) {
		l.left[reason]++
		return 0, false
	}
	leftOut = l.left[reason]
	delete(l.left, reason)
	return leftOut, true
}
