// Package audit owns the audit log: changes with their authors and outcomes, rejected requests, and the changes of
// other nodes. Changes are written in the transactions of the store. Rejections and changes of other nodes are in
// separate rooms with separate limits, so that they displace no change. In each room, an entry contains the hash of the
// previous entry, so that an edited, missing or moved entry is detected. Packages that make changes write entries;
// httpapi and events read them. The entries are not signed: a process that can write the store can write a new chain.
// Any goroutine may use a *Log.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

const (
	// MaxEntries is the maximum number of changes within the retention. The oldest entries are deleted first.
	MaxEntries = 100_000
	// MaxRefusals is the maximum number of rejections within the retention.
	MaxRefusals = 10_000
	// MaxReceived is the maximum number of changes of other nodes within the retention.
	MaxReceived = 10_000
	// maxObject is the maximum size of the JSON of an object before or after a change, in bytes.
	maxObject = 64 << 10
	// chunk is the maximum number of entries per transaction, so that transactions are short.
	chunk = 500
)

// ActorNode is the actor of automatic changes of the node.
const ActorNode = "gslb-overwatch"

// ErrNoEntry is the error for an unknown entry id.
var ErrNoEntry = errors.New("the audit log has no such entry")

// Room is a part of the log.
type Room int

// The rooms.
const (
	Changes Room = iota
	Refusals
	Received // changes of other nodes
	roomCount
)

// Rooms lists the rooms.
func Rooms() []Room { return []Room{Changes, Refusals, Received} }

// room is the storage of a Room: its entries, their maximum number, and the id before the first id.
type room struct {
	store store.Audit
	max   uint64
	zero  uint64
}

// Options configures a Log.
type Options struct {
	Store     *store.Store
	Retention time.Duration // age at which an entry is deleted; above zero
	Logger    zerolog.Logger
	Now       func() time.Time // nil is time.Now
}

// Log is the audit log of a node.
type Log struct {
	o     Options
	rooms [roomCount]room
}

// Open opens the log in the store.
func Open(o Options) (*Log, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Store == nil || o.Retention <= 0 {
		return nil, errors.New("audit: Options.Store and a Retention above zero are needed")
	}
	l := &Log{o: o, rooms: [roomCount]room{
		Changes:  {store: o.Store.Changes(), max: MaxEntries},
		Refusals: {store: o.Store.Refusals(), max: MaxRefusals, zero: api.FirstRefusal - 1},
		Received: {store: o.Store.Received(), max: MaxReceived, zero: api.FirstReceived - 1},
	}}
	for r := range l.rooms {
		if _, err := l.newest(Room(r)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// newest returns the number of the latest entry, or 0 without entries.
func (l *Log) newest(r Room) (uint64, error) {
	for e, err := range l.Newest(r) {
		return e.ID, err
	}
	return 0, nil
}

// RoomOf returns the Room of the entries of an action.
func RoomOf(action string) Room {
	switch action {
	case api.AuditRefused:
		return Refusals
	case api.AuditReceive:
		return Received
	}
	return Changes
}

// Change describes a change. Before and After are encoded as JSON and must not contain secrets. nil: no object.
type Change struct {
	Action, Resource, ResourceID string
	Actor, ActorType, ActorIP    string
	RequestID                    string
	Before, After                any
	Configured                   map[string]json.RawMessage // values of the file for the fields of an overlay
	LosesSecrets                 bool                       // the change replaced or removed a secret of the object
	Err                          error                      // reason of a failure; nil: success
	Duration                     time.Duration
	Peer                         string // node that sent the change; optional
	Undoes                       uint64 // entry of the reverted change, or 0
	Group                        string // the client's id that groups the requests of a change; optional
}

// Record appends a change or a refusal and returns when it is on disk.
func (l *Log) Record(c Change) error {
	if err := l.rooms[RoomOf(c.Action)].store.Append(l.EntryOf(c)); err != nil {
		return fmt.Errorf("an audit entry: %w", err)
	}
	return nil
}

// EntryOf is Entry for a complete change.
func (l *Log) EntryOf(c Change) store.Entry { return l.Entry(func() Change { return c }) }

// Entry returns the audit entry of a change, for the transaction that stores the change. When that transaction is
// written, possibly by another goroutine, it calls change, which returns the complete change.
func (l *Log) Entry(change func() Change) store.Entry {
	return func(last uint64, newest []byte) (uint64, []byte, error) {
		c := change()
		e := api.AuditEntry{
			ID:        max(last, l.rooms[RoomOf(c.Action)].zero) + 1,
			Timestamp: api.Moment(l.o.Now()).Truncate(time.Millisecond),
			Action:    c.Action, Resource: c.Resource, ResourceID: c.ResourceID,
			Actor: c.Actor, ActorType: c.ActorType, ActorIP: c.ActorIP, Status: api.AuditSuccess,
			Details: map[string]string{},
			Before:  object(c.Before), After: object(c.After), DurationMs: float64(c.Duration.Microseconds()) / 1000,
			RequestID: c.RequestID,
		}
		if e.ActorType == api.ActorUser {
			newest := l.o.Store.NewestVersion()
			e.Details[api.DetailVersion] = api.FormatVersion(newest.Time, newest.Count)
		}
		if c.Group != "" {
			e.Details[api.DetailChange] = c.Group
		}
		if len(c.Configured) > 0 {
			e.Details[api.DetailConfigured] = string(object(c.Configured))
		}
		if c.LosesSecrets {
			e.Details[api.DetailSecrets] = "true"
		}
		if c.Undoes != 0 {
			e.Details["undoes"] = strconv.FormatUint(c.Undoes, 10)
		}
		if c.Peer != "" {
			e.Details["peer"] = c.Peer
		}
		if c.Err != nil {
			e.Status, e.Details["error"] = api.AuditFailure, c.Err.Error()
		}
		if newest != nil {
			before, err := decode(newest)
			if err != nil {
				return 0, nil, err
			}
			e.PreviousHash = before.Hash
		}
		var err error
		if e.Hash, err = e.Sum(); err != nil {
			return 0, nil, err
		}
		value, err := json.Marshal(e)
		if err != nil {
			return 0, nil, fmt.Errorf("encoding audit entry %d: %w", e.ID, err)
		}
		return e.ID, value, nil
	}
}

// object returns the JSON of a value. For an omitted value, it returns a JSON text with the reason.
func object(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	switch {
	case err != nil:
		encoded, _ = json.Marshal(map[string]string{"omitted": err.Error()})
	case len(encoded) > maxObject:
		encoded = fmt.Appendf(nil, `{"omitted":"%d bytes"}`, len(encoded))
	}
	return encoded
}

// Retention returns the age at which an entry is deleted.
func (l *Log) Retention() time.Duration { return l.o.Retention }

// Get returns an entry, or ErrNoEntry.
func (l *Log) Get(id uint64) (e api.AuditEntry, err error) {
	in := Changes
	switch {
	case id >= api.FirstReceived:
		in = Received
	case id >= api.FirstRefusal:
		in = Refusals
	}
	values, err := l.rooms[in].store.From(id, 1)
	if err != nil {
		return e, err
	}
	if len(values) == 0 {
		return e, ErrNoEntry
	}
	if e, err = decode(values[0]); err == nil && e.ID != id {
		return api.AuditEntry{}, ErrNoEntry
	}
	return e, err
}

// Around yields the changes with numbers that differ from id by at most n, in ascending order. It ends after an error.
func (l *Log) Around(id uint64, n uint64) iter.Seq2[api.AuditEntry, error] {
	from := walk(id-min(id, n), l.rooms[Changes].store.From, func(e api.AuditEntry) uint64 { return e.ID + 1 })
	return func(yield func(api.AuditEntry, error) bool) {
		for e, err := range from {
			if err == nil && e.ID > id+n || !yield(e, err) {
				return
			}
		}
	}
}

// Oldest yields all entries of a room, the oldest first. It ends after an error.
func (l *Log) Oldest(r Room) iter.Seq2[api.AuditEntry, error] {
	return walk(0, l.rooms[r].store.From, func(e api.AuditEntry) uint64 { return e.ID + 1 })
}

// Newest yields all entries of a room, the latest first. It ends after an error.
func (l *Log) Newest(r Room) iter.Seq2[api.AuditEntry, error] {
	return walk(math.MaxUint64, l.rooms[r].store.Before, func(e api.AuditEntry) uint64 { return e.ID })
}

func walk(at uint64, read func(uint64, int) ([][]byte, error),
	next func(api.AuditEntry) uint64) iter.Seq2[api.AuditEntry, error] {
	return func(yield func(api.AuditEntry, error) bool) {
		at := at
		for count := 1; ; count = min(8*count, chunk) { // a caller that stops after the latest entry reads a single entry
			values, err := read(at, count)
			if err != nil {
				yield(api.AuditEntry{}, err)
				return
			}
			for _, value := range values {
				e, err := decode(value)
				if !yield(e, err) || err != nil {
					return
				}
				at = next(e)
			}
			if len(values) < count {
				return
			}
		}
	}
}

func decode(value []byte) (e api.AuditEntry, err error) {
	if err = json.Unmarshal(value, &e); err != nil {
		return e, fmt.Errorf("reading an audit entry: %w", err)
	}
	return e, nil
}
