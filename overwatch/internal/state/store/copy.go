package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// copyDelay is the time from a change to its copy, so that a burst of changes needs a single copy.
	copyDelay = time.Second
	// copyEvery is the minimum time between two copies. For a large store, the pause is longer: copies use at most one
	// part in copyShare of the time.
	copyEvery    = 10 * time.Second
	copyShare    = 100
	copyAtLatest = 10 * time.Minute
	// copyStatusDelay replaces copyDelay if only statuses have changed, because agents and checks soon report them after a
	// restart. Without these copies, a node that starts from a copy would answer with outdated backends.
	copyStatusDelay = time.Minute
)

// Run copies the store soon after a change, or later if only statuses have changed, until ctx ends. It logs and retries
// failed copies. After a failed write, it also tests whether writes succeed.
func (s *Store) Run(ctx context.Context) error {
	var probing sync.WaitGroup
	defer probing.Wait()
	probing.Go(func() {
		for pause(ctx, probeEvery) {
			s.probe()
		}
	})
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
			mark(s.changed) // unset after a successful copy
		case <-s.statuses:
			if !s.awaitChange(ctx, copyStatusDelay) {
				return nil
			}
		}
		if !pause(ctx, copyDelay) {
			return nil
		}
		began := time.Now()
		err := s.copyIfChanged()
		took := time.Since(began)
		if err != nil {
			s.failed.Store(true)
		}
		switch {
		case err != nil && !failing:
			s.log.Error().Err(err).Msg(
				"the store could not be copied: until it can, damage to it loses the latest pins and overrides")
			failing = true
		case err == nil && failing:
			s.log.Info().Msg("the store was copied again")
			failing = false
		}
		if !pause(ctx, restAfter(took, err)) {
			return nil
		}
	}
}

// restAfter returns the minimum time until the next copy. It is short after a failed copy.
func restAfter(took time.Duration, err error) time.Duration {
	if err != nil {
		return copyEvery
	}
	return min(max(copyEvery, copyShare*took), copyAtLatest)
}

const (
	probeEvery = 10 * time.Second // interval while the disk fails
	probeSize  = 256 << 10        // bytes of the file that probe writes, more than most transactions need
)

// probe writes a separate file, to test whether a failed disk works again.
func (s *Store) probe() {
	if !s.failed.Load() {
		return
	}
	f, err := os.CreateTemp(s.dir, fileName+newEnding+"*") // clearLeftovers deletes it after a crash
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(make([]byte, probeSize)); errors.Join(err, f.Sync(), f.Close()) == nil {
		s.failed.Store(false)
	}
}

// pause waits for a duration. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// awaitChange waits until a change requires a copy, at most d. It returns false if ctx ends first.
func (s *Store) awaitChange(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.changed:
	case <-ctx.Done():
		return false
	}
	mark(s.changed)
	return true
}

// mark adds an element to a channel of capacity one, unless the channel is full.
func mark(note chan struct{}) {
	select {
	case note <- struct{}{}:
	default:
	}
}

// copyIfChanged copies the store if it has changed since the last copy.
func (s *Store) copyIfChanged() error {
	s.copyMu.Lock()
	defer s.copyMu.Unlock()
	select {
	case <-s.changed: // before the copy: a later change requires the next copy
	default:
		return nil
	}
	select {
	case <-s.statuses:
	default:
	}
	err := writeWhole(s.copyPath(), func(w io.Writer) error {
		return guarded(func() error {
			return s.db.View(func(tx *bolt.Tx) error {
				_, err := tx.WriteTo(w)
				return err
			})
		})
	})
	if err != nil {
		mark(s.changed)
		return fmt.Errorf("copying %s: %w", s.path, err)
	}
	return nil
}
