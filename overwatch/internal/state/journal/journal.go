// Package journal keeps the newest events of a node, in memory and in a file that survives a restart. The root opens it
// and runs it; events adds to it; httpapi, notify and metrics read it. Adding an event never waits for the disk: the
// file is written later and again after an error, and only the end of the process loses what is missing there. It never
// makes an event itself. A *Journal may be used from any goroutine.
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
	// Kept is the number of newest events that are shown. A new file begins with as many, and memory holds up to twice as
	// many.
	Kept = 10_000
	// maxText bounds each text of an event, in octets.
	maxText = 1 << 10
	// perStart is the number of sequences that belong to one start: each start begins behind the next multiple of it.
	perStart = 1_000_000
	// retryEvery is the time between two attempts to write what the disk did not take.
	retryEvery = 5 * time.Second
)

// Options configures a Journal.
type Options struct {
	Path   string // of the file
	Logger zerolog.Logger
	Now    func() time.Time // nil is time.Now
}

// Journal holds the events of one node.
type Journal struct {
	o    Options
	wake chan struct{} // holds one element while something is not written
	file *os.File      // nil: begun anew at the next write; of Run
	size int64         // of file, in octets

	begun int64 // size that file had when it was begun

	mu       sync.Mutex
	events   []api.Event // by sequence, at most 2*Kept
	next     uint64
	unstored int                  // the newest events that are not in the file
	standing map[string]api.Event // what has begun and not ended, by Key
	changed  chan struct{}        // closed at the next event
	totals   map[api.EventKind]uint64
}

// Open reads the file. One that cannot be read is logged, and a new journal begins.
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
		j.take(e)
	}
	if len(j.events) > 0 {
		j.next = (j.events[len(j.events)-1].Sequence/perStart+1)*perStart + 1
	}
	return j
}

// Key identifies the state that an event begins or ends; both events have the same key.
func Key(kind api.EventKind, subject string) string { return string(kind) + " " + subject }

// take puts an event behind the others. The caller holds the lock.
func (j *Journal) take(e api.Event) {
	if n := len(j.events); n == 2*Kept { // moved seldom: half of it is free then
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

// Add appends an event, which gets its sequence, and its time and phase unless it has them.
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
	j.take(e)
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

// cut shortens a text to maxText, and leaves nothing that is not UTF-8.
func cut(text string) string {
	if len(text) > maxText {
		text = text[:maxText-3] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}

// visible returns the events that are kept. The caller holds the lock.
func (j *Journal) visible() []api.Event { return j.events[max(len(j.events)-Kept, 0):] }

// After returns the events behind a sequence, the oldest first; missed tells that some of them are no longer kept. For
// a sequence that this journal has never reached it returns all kept events. The caller must not change them.
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

// Newest returns the sequence of the newest event that is kept, 0 for none.
func (j *Journal) Newest() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.events) == 0 {
		return 0
	}
	return j.events[len(j.events)-1].Sequence
}

// Changed returns a channel that is closed when another event is added.
func (j *Journal) Changed() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changed
}

// ActiveStates returns the events whose states have begun and not ended, by Key, also from before a restart.
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

// Totals returns how many events of each kind were added since the start.
func (j *Journal) Totals() map[api.EventKind]uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.totals)
}

// Unstored returns how many of the newest events are not in the file yet.
func (j *Journal) Unstored() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.unstored
}

// Run writes events until ctx ends, and then what waits. It returns nil: a node goes on without its journal.
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
			_ = j.write() // what it does not take is lost; it was told
			return nil
		case <-again:
		case <-j.wake:
			if failing { // one attempt each retryEvery
				select {
				case <-ctx.Done():
				case <-again:
				}
			}
		}
	}
}
