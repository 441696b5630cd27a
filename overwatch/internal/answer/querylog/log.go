package querylog

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
)

// flushInterval is the longest time for which an entry waits in a queue.
const flushInterval = 200 * time.Millisecond

// Options configures a Log.
type Options struct {
	Path       string // path of the current file; its mode is 0640
	MaxSize    int64  // size of a file in octets at which the Log begins the next file
	MaxFiles   int    // maximum number of files, including the current file
	IPv4Prefix int    // recorded bits of IPv4 client addresses
	IPv6Prefix int    // recorded bits of IPv6 client addresses
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// Log writes the entries of its workers to a file. A nil Log has no workers.
type Log struct {
	o             Options
	file          rotated
	wake          chan struct{}
	written, lost atomic.Uint64 // lines; lost: the file could not be written

	mu      sync.Mutex
	workers []*Worker
	fault   string // reason of the last failure; empty while the file can be written
}

// New returns a Log. Run opens the file.
func New(o Options) (*Log, error) {
	l := &Log{o: o, file: rotated{path: o.Path, maxSize: o.MaxSize, maxFiles: o.MaxFiles}, wake: make(chan struct{}, 1)}
	if err := o.Registerer.Register(newCollector(l)); err != nil {
		return nil, fmt.Errorf("register the metrics of the query log: %w", err)
	}
	return l, nil
}

// NewWorker returns a Worker for one goroutine with its recorder of decisions. It returns nil if l is nil.
func (l *Log) NewWorker(recorder *decisions.SocketRecorder) *Worker {
	if l == nil {
		return nil
	}
	w := &Worker{log: l, recorder: recorder}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workers = append(l.workers, w)
	return w
}

func (l *Log) list() []*Worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.workers)
}

// wakeUp makes Run write the queues. It does not wait.
func (l *Log) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Fault returns the path of the file and the reason why it cannot be written; the reason is empty if it can be written.
// A nil Log has no fault.
func (l *Log) Fault() (path, reason string) {
	if l == nil {
		return "", ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.o.Path, l.fault
}

// Run writes the entries until ctx ends, and then the remaining entries. It returns nil: errors of the file are
// reported by Fault.
func (l *Log) Run(ctx context.Context) error {
	defer l.file.close()
	l.note(l.file.open())
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-ticker.C:
		case <-l.wake:
		}
		for _, w := range l.list() {
			l.writeQueue(w)
		}
	}
	return nil
}

// maxWrite is the size in octets of the lines that are written together.
const maxWrite = 256 << 10

// writeQueue writes the entries in the queue of a worker.
func (l *Log) writeQueue(w *Worker) {
	var lines []byte
	count := uint64(0)
	flush := func() {
		if count == 0 {
			return
		}
		err := l.file.write(lines)
		if l.note(err); err != nil {
			l.lost.Add(count)
		} else {
			l.written.Add(count)
		}
		lines, count = lines[:0], 0
	}
	for at, end := w.read.Load(), w.written.Load(); at < end; at++ {
		s := &w.entries[at%queueSize]
		lines = l.appendLine(lines, w, s)
		s.Selection.Input = nil // the queue must not retain outdated inputs
		count++
		w.read.Store(at + 1)
		if len(lines) >= maxWrite {
			flush()
		}
	}
	flush()
}

// note stores the result of the last use of the file, and logs a change.
func (l *Log) note(err error) {
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	l.mu.Lock()
	before := l.fault
	l.fault = reason
	l.mu.Unlock()
	switch {
	case before == "" && reason != "":
		l.o.Logger.Error().Err(err).Msg("query log: lines are dropped until the file can be written")
	case before != "" && reason == "":
		l.o.Logger.Info().Str("file", l.o.Path).Msg("query log: the file can be written again")
	}
}
