package querylog

import (
	"net/netip"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/zone"
)

const (
	// queueSize is the number of entries in the queue of a worker, about 1.6 MB.
	queueSize = 4096
	// wakeSize is the number of entries in a queue at which the Log is woken.
	wakeSize = queueSize / 4
	// maxName is the maximum length of a name in wire form in octets (RFC 1035 section 2.3.4).
	maxName = 255
)

// Entry is a query with its result.
type Entry struct {
	At        time.Time
	Client    netip.Addr // Log.Run shortens it
	Name      []byte     // in wire form
	Type      uint16
	Outcome   string
	TCP       bool
	Truncated bool           // the response has the TC flag
	Dropped   bool           // the rate limit dropped the response
	Selection zone.Selection // Input is nil for an answer that is not load-balanced
	Decision  uint64         // number of the load-balanced answer; see decisions.SocketRecorder.AppendID
}

// stored is an Entry with its own memory for the name.
type stored struct {
	Entry
	name   [maxName]byte
	length int
}

// Worker accepts the entries of one goroutine. A nil Worker records nothing.
type Worker struct {
	log      *Log
	recorder *decisions.SocketRecorder
	dropped  atomic.Uint64 // entries that found no room in the queue

	entries [queueSize]stored
	_       [64]byte      // separates the positions of writer and reader in the cache
	written atomic.Uint64 // entries written since the start; changed by the recording goroutine
	_       [64]byte
	read    atomic.Uint64 // entries read since the start; changed by Log.Run
}

// Record adds an entry to the queue. The entry may be changed after Record has returned.
func (w *Worker) Record(e *Entry) {
	if w == nil {
		return
	}
	at := w.written.Load()
	used := at - w.read.Load() + 1
	if used > queueSize {
		w.dropped.Add(1)
		return
	}
	s := &w.entries[at%queueSize]
	s.Entry = *e
	s.length = copy(s.name[:], e.Name)
	s.Name = nil
	w.written.Store(at + 1)
	if used == wakeSize {
		w.log.wakeUp()
	}
}
