// Package journal stores the latest events of a node, in memory and in a file that survives a restart. The root opens
// and runs it; events adds events; httpapi, notify and metrics read it. Adding an event never waits for the disk: Run
// writes the file, and retries after an error. Events that are not in the file are lost at the end of the process. Any
// goroutine may use a *Journal.
package journal

import (
	"cmp"
	"context"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/api"
)

const (
	// Kept is the number of visible events, the latest events. A new file starts with this number of events, and memory
	// contains up to twice this number.
	Kept = 10_000
	// maxText is the maximum length of each text of an event in bytes.
	maxText = 1 << 10
	// perStart is the number of sequences per start. Each start begins after the next multiple of perStart.
	perStart = 1_000_000
	// retryEvery is the interval of attempts to write events after an error.
	retryEvery = 5 * time.Second
)

// Options configures a Journal.
type Options struct {
	Path   string // of the file
	Logger zerolog.Logger
	Now    func() time.Time // nil is time.Now
}

// Journal holds the events of a node.
type Journal struct {
	o    Options
	wake chan struct{} // has an element while an event is not written
	file *os.File      // nil: the next write starts a new file; used by Run
	size int64         // of file, in bytes

	begun int64 // size of file after its creation

	mu       sync.Mutex
	events   []api.Event // by sequence, at most twice the number of visible events
	next     uint64
	unstored int                  // number of the latest events that are not in the file
	standing map[string]api.Event // active states, by Key
	changed  chan struct{}        // closed at the next event
	totals   map[api.EventKind]uint64
}

// Open reads the file. It logs an error for an unreadable file, and begins a new journal.
func Open(o Options) *Journal {
	if o.Now == nil {
		o.Now = time.Now
	}
	j := &Journal{o: o, wake: make(chan struct{}, 1), standing: map[string]api.Event{}, changed: make(chan struct{}),
		totals: map[api.EventKind]uint64{}, next: 1}
	kept, err := read(o.Path)
	if err != nil {
		o.Logger.Warn().Err(err).Str("file", o.Path).Msg("the journal of events could not be read whole: events are lost")
	}
	for _, e := range kept {
		j.appendEvent(e)
	}
	if len(j.events) > 0 {
		j.next = (j.events[len(j.events)-1].Sequence/perStart+1)*perStart + 1
	}
	return j
}

// Key returns the key of the state that an event starts or ends. Both events have the same key.
func Key(kind api.EventKind, subject string) string { return string(kind) + " " + subject }

// appendEvent appends an event. The caller holds the lock.
func (j *Journal) appendEvent(e api.Event) {
	if n := len(j.events); n == 2*Kept { // rare, because half of the capacity is then free
		j.events = append(make([]api.Event, 0, 2*Kept), j.events[n-Kept+1:]...)
	}
	j.events = append(j.events, e)
	switch key := Key(e.Kind, e.Subject); e.Phase {
	case api.PhaseBegins:
		j.standing[key] = e
	case api.PhaseEnds:
		delete(j.standing, key)
	}
}

// Add appends an event and sets its sequence. It sets the time and the phase if they are unset.
func (j *Journal) Add(e api.Event) {
	for _, text := range []*string{&e.Subject, &e.Name, &e.Cause, &e.Sentence, &e.Agent, &e.Check} {
		*text = cut(*text)
	}
	if e.Time.IsZero() {
		e.Time = j.o.Now()
	}
	e.Phase = cmp.Or(e.Phase, api.PhaseOnce)
	e.Time = api.Moment(e.Time).Truncate(time.Millisecond)
	j.mu.Lock()
	e.Sequence = j.next
	j.next++
	j.appendEvent(e)
	j.unstored = min(j.unstored+1, Kept)
	j.totals[e.Kind]++
	close(j.changed)
	j.changed = make(chan struct{})
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// cut truncates a text to maxText and removes invalid UTF-8.
func cut(text string) string {
	if len(text) > maxText {
		text = text[:maxText-3] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}

// visible returns the visible events. The caller holds the lock.
func (j *Journal) visible() []api.Event { return j.events[max(len(j.events)-Kept, 0):] }

// After returns the visible events after a sequence, the oldest first. missed reports whether some events after the
// sequence were removed. For a sequence above all events, it returns all visible events. The caller must not change
// them.
func (j *Journal) After(sequence uint64) (events []api.Event, missed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	kept := j.visible()
	if len(kept) == 0 {
		return nil, sequence >= j.next
	}
	at := search(kept, sequence)
	if sequence >= j.next {
		at = 0
	}
	return kept[at:len(kept):len(kept)], sequence >= j.next || at == 0 && sequence+1 < kept[0].Sequence
}

// Newest returns the sequence of the latest event, or 0 without events.
func (j *Journal) Newest() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.events) == 0 {
		return 0
	}
	return j.events[len(j.events)-1].Sequence
}

// Changed returns a channel that is closed at the next event.
func (j *Journal) Changed() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changed
}

// ActiveStates returns the events of active states by Key, including states from before a restart.
func (j *Journal) ActiveStates() map[string]api.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.standing)
}

// IsActive reports whether a state has begun and not ended.
func (j *Journal) IsActive(kind api.EventKind, subject string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, stands := j.standing[Key(kind, subject)]
	return stands
}

// Totals returns the number of events of each kind since the start.
func (j *Journal) Totals() map[api.EventKind]uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.totals)
}

// Unstored returns the number of events that are not in the file.
func (j *Journal) Unstored() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.unstored
}

// Run writes events until ctx ends, and then the remaining events. It returns nil: a node continues without its
// journal.
func (j *Journal) Run(ctx context.Context) error {
	defer j.close()
	failing := false
	for {
		again := (<-chan time.Time)(nil)
		if err := j.write(); err != nil {
			if !failing {
				j.o.Logger.Error().Err(err).Msg("events cannot be stored: they are lost if the node ends before the disk has room")
			}
			again = time.After(retryEvery)
		} else if failing {
			j.o.Logger.Info().Msg("events are stored again")
		}
		failing = again != nil
		select {
		case <-ctx.Done():
			_ = j.write() // the events are lost; the error was logged
			return nil
		case <-again:
		case <-j.wake:
			if failing { // one attempt per retryEvery
				select {
				case <-ctx.Done():
				case <-again:
				}
			}
		}
	}
}
