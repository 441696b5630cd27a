package audit

import (
	"context"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

const (
	// MaxQueuedChanges is the maximum number of changes in a Queue.
	MaxQueuedChanges = 16_384
	// MaxQueuedRefusals is the maximum number of rejections in a Queue, which reserves space for changes.
	MaxQueuedRefusals = 64
	// retryEvery is the interval of attempts to write entries after a disk error.
	retryEvery = 10 * time.Second
)

// QueuedEntry is an entry for a Queue.
type QueuedEntry struct {
	Change Change
	// Store changes the store and stores the entry in a single transaction. If nil, only the entry is stored.
	Store func(store.Entry) error
}

// Queue writes audit entries of the data path in the background. Adding an entry never waits for the disk. Entries of a
// Room are written in order. After a disk error, they are written later. Any goroutine may use a Queue.
type Queue struct {
	log  *Log
	wake chan struct{} // has an element while there is a new entry

	writing sync.Mutex // held during writes

	mu      sync.Mutex
	entries []QueuedEntry
	rooms   [roomCount]int // number of entries by Room, including the entries of the current write
}

// NewQueue returns an empty queue.
func (l *Log) NewQueue() *Queue { return &Queue{log: l, wake: make(chan struct{}, 1)} }

// Add queues an entry. The default actor is the node. Add returns false if the queue is full.
func (q *Queue) Add(e QueuedEntry) bool {
	if e.Change.Actor == "" {
		e.Change.Actor, e.Change.ActorType = ActorNode, api.ActorSystem
	}
	if e.Store == nil {
		e.Store = q.log.rooms[RoomOf(e.Change.Action)].store.Append
	}
	room := RoomOf(e.Change.Action)
	most := MaxQueuedChanges
	if room == Refusals {
		most = MaxQueuedRefusals
	}
	q.mu.Lock()
	isFull := q.rooms[room] >= most
	if !isFull {
		q.entries = append(q.entries, e)
		q.rooms[room]++
	}
	q.mu.Unlock()
	if isFull {
		return false
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return true
}

// AddChange is Add for an entry without a change of the store. It logs an error if the queue is full.
func (q *Queue) AddChange(c Change) { q.AddOrLog(QueuedEntry{Change: c}) }

// AddOrLog is Add, and logs an error if the queue is full.
func (q *Queue) AddOrLog(e QueuedEntry) {
	if !q.Add(e) {
		q.log.o.Logger.Error().Str("resource", e.Change.Resource).Str("resource_id", e.Change.ResourceID).
			Int("entries", MaxQueuedChanges).Msg("audit log: the queue is full: an entry is lost")
	}
}

// Run writes entries until ctx ends. It returns nil. Flush writes the remaining entries.
func (q *Queue) Run(ctx context.Context) error {
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		case <-retry.C:
		}
		q.Flush()
	}
}

// Flush writes the entries of the queue. After a disk error for an entry, it does not write later entries of the same
// Room.
func (q *Queue) Flush() {
	q.writing.Lock()
	defer q.writing.Unlock()
	q.mu.Lock()
	entries := q.entries
	q.entries = nil
	q.mu.Unlock()
	var failed [roomCount]bool
	var left []QueuedEntry
	var written [roomCount]int
	for _, e := range entries {
		room := RoomOf(e.Change.Action)
		if !failed[room] {
			err := e.Store(q.log.EntryOf(e.Change))
			if err == nil {
				written[room]++
				continue
			}
			failed[room] = true
			q.log.o.Logger.Error().Err(err).Str("resource", e.Change.Resource).Str("resource_id", e.Change.ResourceID).
				Msg("audit log: an entry was not written and will be retried")
		}
		left = append(left, e)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries = append(left, q.entries...)
	for room, n := range written {
		q.rooms[room] -= n
	}
}
