package decisions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/shared/durable"
)

const (
	// SaveInterval is the time between two writes of the file. A killed process loses at most this time.
	SaveInterval = time.Minute
	// MaxSaved is the largest number of sampled answers in the file, MaxSavedFlows of flow counts. The latest are
	// saved.
	MaxSaved, MaxSavedFlows = 1000, 1 << 14
	// maxFile is the largest size of the file in octets.
	maxFile = 16 << 20
)

// FileStore saves sampled answers and flows in a file and restores them at start. It works on copies and does not block
// queries.
type FileStore struct {
	Recorder *Recorder
	Path     string // path of the file; its mode is 0600
	Logger   zerolog.Logger

	saved []byte // last written content
}

// saved is the content of the file.
type saved struct {
	Decisions []Summary     `json:"decisions"` // the latest first
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

// Run restores the file, then writes it every SaveInterval and when ctx ends. It returns nil: errors of the file are
// logged, and recording continues.
func (k *FileStore) Run(ctx context.Context) error {
	if err := k.restore(); err != nil {
		k.Logger.Warn().Err(err).Str("file", k.Path).Msg("cannot restore decisions and flows")
	}
	ticker := time.NewTicker(SaveInterval)
	defer ticker.Stop()
	for done := false; !done; {
		select {
		case <-ctx.Done():
			done = true
		case <-ticker.C:
		}
		if err := k.save(); err != nil {
			k.Logger.Warn().Err(err).Msg("cannot save decisions and flows")
		}
	}
	return nil
}

// save writes the file if the content changed.
func (k *FileStore) save() error {
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

// restore reads the file. A missing file is not an error.
func (k *FileStore) restore() error {
	text, err := durable.ReadFile(k.Path, maxFile)
	if err != nil || text == nil {
		return err
	}
	var content saved
	if err := json.Unmarshal(text, &content); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	k.Recorder.addRestored(&content)
	return nil
}

// snapshot returns the latest sampled answers and flows.
func (r *Recorder) snapshot() saved {
	s := saved{Decisions: []Summary{}, Flows: []savedBucket{}}
	live := r.Decisions()
	for i := range live[:min(len(live), MaxSaved)] {
		s.Decisions = append(s.Decisions, live[i].Summary())
	}
	restored := r.Restored()
	s.Decisions = append(s.Decisions, restored[:min(len(restored), MaxSaved-len(s.Decisions))]...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collectCounts()
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

// addRestored adds the content of a file to the record. It skips entries that are older than FlowSpan or in the future,
// and buckets that are not in chronological order.
func (r *Recorder) addRestored(s *saved) {
	now := r.now()
	isRecent := func(at time.Time, span time.Duration) bool { return !at.After(now) && now.Sub(at) <= span }
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, summary := range s.Decisions[:min(len(s.Decisions), MaxSaved)] {
		if isRecent(summary.At, FlowSpan) && summary.Client.IsValid() {
			r.restored = append(r.restored, summary)
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
