package audit

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"gslb.internal/shared/api"
)

// Query selects audit entries.
type Query struct {
	From, To                   time.Time                  // zero: unlimited
	Actions, Resources, Actors []string                   // empty: all
	Status                     string                     // empty: all
	Search                     string                     // lower-case text that an entry must contain; empty: all entries
	Ascending                  bool                       // the oldest entry first
	Sees                       func(*api.AuditEntry) bool // reports whether the reader may see an entry; nil: all
}

// everything reports whether the query selects all entries.
func (q Query) everything() bool {
	return q.From.IsZero() && q.To.IsZero() && len(q.Actions)+len(q.Resources)+len(q.Actors) == 0 && q.Status == "" &&
		q.Search == "" && q.Sees == nil
}

func (q Query) wants(e *api.AuditEntry) bool {
	in := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	return (q.From.IsZero() || !e.Timestamp.Before(q.From)) && (q.To.IsZero() || !e.Timestamp.After(q.To)) &&
		in(q.Actions, e.Action) && in(q.Resources, e.Resource) && in(q.Actors, e.Actor) &&
		(q.Status == "" || q.Status == e.Status) &&
		(q.Search == "" || contains(e, q.Search)) && (q.Sees == nil || q.Sees(e))
}

// rooms returns the rooms that q reads. It includes rejections and changes of other nodes only if q names their
// actions.
func (q Query) rooms() (rooms []Room) {
	for _, action := range q.Actions {
		if room := RoomOf(action); !slices.Contains(rooms, room) {
			rooms = append(rooms, room)
		}
	}
	if rooms == nil {
		rooms = []Room{Changes}
	}
	return rooms
}

// Entries yields the entries that q selects, ordered by time. An error ends the sequence.
func (l *Log) Entries(q Query) iter.Seq2[api.AuditEntry, error] {
	var parts []iter.Seq2[api.AuditEntry, error]
	for _, room := range q.rooms() {
		if q.Ascending {
			parts = append(parts, l.Oldest(room))
		} else {
			parts = append(parts, l.Newest(room))
		}
	}
	all := parts[0]
	for _, part := range parts[1:] {
		all = merge(all, part, q.Ascending)
	}
	return func(yield func(api.AuditEntry, error) bool) {
		for e, err := range all {
			if (err != nil || q.wants(&e)) && !yield(e, err) {
				return
			}
		}
	}
}

// Page returns the entries of q from offset, at most limit, and the total number of entries of q.
func (l *Log) Page(q Query, offset, limit int) (entries []api.AuditEntry, total int, err error) {
	all := 0 // total number, which requires no reading if q selects all entries
	if q.everything() {
		if all, err = l.count(); err != nil {
			return nil, 0, err
		}
	}
	entries = []api.AuditEntry{}
	for e, err := range l.Entries(q) {
		if err != nil {
			return nil, 0, err
		}
		if total >= offset && len(entries) < limit {
			entries = append(entries, e)
		}
		if total++; all > 0 && len(entries) == limit {
			break
		}
	}
	return entries, max(total, all), nil
}

// count returns the number of stored changes. It is the difference of the first and the last number, because numbers
// have no gaps.
func (l *Log) count() (int, error) {
	var ends [2]uint64
	for i, entries := range []iter.Seq2[api.AuditEntry, error]{l.Oldest(Changes), l.Newest(Changes)} {
		for e, err := range entries {
			if err != nil {
				return 0, err
			}
			ends[i] = e.ID
			break
		}
	}
	if ends[0] == 0 {
		return 0, nil
	}
	return int(ends[1] - ends[0] + 1), nil
}

// contains reports whether an entry contains a text, which must be in lower case.
func contains(e *api.AuditEntry, text string) bool {
	texts := []string{e.Action, e.Resource, e.ResourceID, e.Actor, e.ActorIP, e.ActorType, e.Status, e.RequestID,
		string(e.Before), string(e.After)}
	for _, where := range slices.AppendSeq(texts, maps.Values(e.Details)) {
		if strings.Contains(strings.ToLower(where), text) {
			return true
		}
	}
	return false
}
