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
	// copyDelay is how long after a change a copy is made, so that a burst of changes costs one.
	copyDelay = time.Second
	// copyEvery is the least time between two copies, so that copying costs little however often something changes.
	copyEvery = 10 * time.Second
	// copyStatusDelay is copyDelay where nothing but statuses changed, which agents and checks soon tell anew. A copy without them would have
	// a node that starts from it answer with backends of long ago.
	copyStatusDelay = time.Minute
)

// Run makes copies as pins and overrides change, and after a while as statuses do, until ctx is over. A copy that fails is logged and tried
// again. It also finds out when a disk that failed takes something again.
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
			mark(s.changed) // until the copy has it
		case <-s.told:
			if !s.awaitChange(ctx, copyStatusDelay) {
				return nil
			}
		}
		if !pause(ctx, copyDelay) {
			return nil
		}
		err := s.copyIfChanged()
		if err != nil {
			s.failed.Store(true)
		}
		switch {
		case err != nil && !failing:
			s.log.Error().Err(err).Msg("the store could not be copied: until it can, damage to it loses the latest pins and overrides")
			failing = true
		case err == nil && failing:
			s.log.Info().Msg("the store was copied again")
			failing = false
		}
		if !pause(ctx, copyEvery) {
			return nil
		}
	}
}

// What probe writes: more than a transaction as a rule needs.
const (
	probeEvery = 10 * time.Second
	probeSize  = 256 << 10
)

// probe finds out whether a disk that failed takes something again, beside the store.
func (s *Store) probe() {
	if !s.failed.Load() {
		return
	}
	f, err := os.CreateTemp(s.dir, fileName+newEnding+"*") // a start clears those away
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(make([]byte, probeSize)); errors.Join(err, f.Sync(), f.Close()) == nil {
		s.failed.Store(false)
	}
}

// pause waits, and reports false when ctx was over first.
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

// awaitChange waits for a change that is worth a copy soon, for a while at most, after which there is one. It reports false when ctx was over
// first.
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

// mark notes something in a channel with room for one note.
func mark(note chan struct{}) {
	select {
	case note <- struct{}{}:
	default:
	}
}

// copyIfChanged brings the copy up to date.
func (s *Store) copyIfChanged() error {
	s.copyMu.Lock()
	defer s.copyMu.Unlock()
	select {
	case <-s.changed: // before the copy is made: a change from now on marks the next one
	default:
		return nil
	}
	select {
	case <-s.told:
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
