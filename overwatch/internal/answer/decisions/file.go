package decisions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/durable"
)

const (
	// SavePace is the time between two writes of the file. A killed process loses at most so much.
	SavePace = time.Minute
	// MaxSaved bounds the sampled answers in the file, and MaxSavedFlows its counts of flows. The latest stay.
	MaxSaved, MaxSavedFlows = 1000, 1 << 14
	// maxFile bounds the file, in octets.
	maxFile = 16 << 20
)

// Keeper stores sampled answers and flows in a file over restarts. It reads copies, so no query waits for it.
type Keeper struct {
	Recorder *Recorder
	Path     string // of the file, with mode 0600
	Logger   zerolog.Logger

	saved []byte // the content of the file
}

// saved is the content of the file.
type saved struct {
	Decisions []Past        `json:"decisions"` // the latest first
	Flows     []savedBucket `json:"flows"`     // the oldest first
}

type savedBucket struct {
	Begin  time.Time   `json:"begin"`
	Counts []savedFlow `json:"counts"`
}

type savedFlow struct {
	Flow
	Count  uint64
	Latest time.Time
}

// Run restores the file, then writes it every SavePace and when ctx ends. It returns nil: a file that cannot be read or
// written is logged, and the node works without it.
func (k *Keeper) Run(ctx context.Context) error {
	if err := k.restore(); err != nil {
		k.Logger.Warn().Err(err).Str("file", k.Path).Msg("the decisions and flows before the restart could not be read")
	}
	ticker := time.NewTicker(SavePace)
	defer ticker.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-ticker.C:
		}
		if err := k.save(); err != nil {
			k.Logger.Warn().Err(err).Msg("decisions and flows could not be saved for a restart")
		}
	}
	return nil
}

// save writes the file if its content differs.
func (k *Keeper) save() error {
	content, err := json.Marshal(k.Recorder.snapshot())
	if err != nil || bytes.Equal(content, k.saved) {
		return err
	}
	if err := durable.WriteFile(k.Path, content, 0o600); err != nil {
		return err
	}
	k.saved = content
	return nil
}

// restore reads the file. A missing file is an empty one.
func (k *Keeper) restore() error {
	f, err := os.Open(k.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return err
	}
	if len(text) > maxFile {
		return fmt.Errorf("it has more than %d octets", maxFile)
	}
	var content saved
	if err := json.Unmarshal(text, &content); err != nil {
		return fmt.Errorf("it is damaged: %w", err)
	}
	k.Recorder.add(&content)
	return nil
}

// snapshot returns the latest sampled answers and flows. The start time of the process precedes each id, since all
// processes count from 1.
func (r *Recorder) snapshot() saved {
	s := saved{Decisions: []Past{}, Flows: []savedBucket{}}
	live := r.Decisions()
	for i := range live[:min(len(live), MaxSaved)] {
		past := live[i].Past()
		past.ID = fmt.Sprintf("%d-%s", r.started.Unix(), past.ID)
		s.Decisions = append(s.Decisions, past)
	}
	restored := r.Restored()
	s.Decisions = append(s.Decisions, restored[:min(len(restored), MaxSaved-len(s.Decisions))]...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum()
	room := MaxSavedFlows
	for _, b := range slices.Backward(r.flows.buckets) {
		if room -= len(b.counts); room < 0 {
			break
		}
		bucket := savedBucket{Begin: b.begin.UTC()}
		for flow, n := range b.counts {
			bucket.Counts = append(bucket.Counts, savedFlow{flow, n.count, n.latest.UTC()})
		}
		slices.SortFunc(bucket.Counts, func(a, b savedFlow) int { return a.Flow.compare(&b.Flow) })
		s.Flows = append(s.Flows, bucket)
	}
	slices.Reverse(s.Flows)
	return s
}

// add adds the content of a file to the record. It omits entries older than FlowSpan or in the future, and buckets that
// are not in the order of time.
func (r *Recorder) add(s *saved) {
	now := r.now()
	isRecent := func(at time.Time, span time.Duration) bool { return !at.After(now) && now.Sub(at) <= span }
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, past := range s.Decisions[:min(len(s.Decisions), MaxSaved)] {
		if isRecent(past.At, FlowSpan) && past.Client.IsValid() {
			r.restored = append(r.restored, past)
		}
	}
	var buckets []*bucket
	size := 0
	for _, b := range s.Flows {
		if !isRecent(b.Begin, FlowSpan+FlowBucket) || len(buckets) > 0 && !b.Begin.After(buckets[len(buckets)-1].begin) ||
			size+len(b.Counts) > MaxSavedFlows {
			continue
		}
		known := &bucket{b.Begin, make(map[Flow]*tally, len(b.Counts))}
		for _, c := range b.Counts {
			known.counts[c.Flow] = &tally{c.Count, c.Latest}
		}
		buckets, size = append(buckets, known), size+len(known.counts)
	}
	r.flows.restore(buckets)
}
