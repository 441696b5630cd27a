package logging

import (
	"sync"
	"time"
)

// Bounds of Lines: at most linesMost lines in a LinesSpan. The bound permits the lines of an operator's repair, and
// limits the lines of a flapping object.
const (
	LinesSpan = 10 * time.Minute
	linesMost = 8
)

// Lines bounds the log lines about an object that may change often. The zero Lines is ready for use. It belongs to one
// goroutine at a time.
type Lines struct {
	began time.Time
	count int
}

// Take reports whether the caller may write a line now, and whether the line is the last until the end of LinesSpan.
// The last line should state this.
func (l *Lines) Take(now time.Time) (ok, last bool) {
	if l.count == 0 || now.Sub(l.began) >= LinesSpan {
		*l = Lines{began: now}
	}
	if l.count == linesMost {
		return false, false
	}
	l.count++
	return true, l.count == linesMost
}

// SharedLines is a Lines for concurrent use.
type SharedLines struct {
	mu    sync.Mutex
	lines Lines
}

// Take is Lines.Take.
func (l *SharedLines) Take(now time.Time) (ok, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Take(now)
}
