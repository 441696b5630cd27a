package store

import (
	"context"
	"fmt"
	"io"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// copyDelay is how long after a change a copy is made, so that a burst of changes costs one.
	copyDelay = time.Second
	// copyEvery is the least time between two copies, so that copying costs little however often something changes.
	copyEvery = 10 * time.Second
)

// Run makes copies as pins and overrides change, until ctx is over. A copy that fails is logged and tried again.
func (s *Store) Run(ctx context.Context) error {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
			s.markChanged() // until the copy has it
		}
		if !pause(ctx, copyDelay) {
			return nil
		}
		switch err := s.copyIfChanged(); {
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

// markChanged notes that there are changes that the copy does not have.
func (s *Store) markChanged() {
	select {
	case s.changed <- struct{}{}:
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
	err := writeWhole(s.copyPath(), func(w io.Writer) error {
		return guarded(func() error {
			return s.db.View(func(tx *bolt.Tx) error {
				_, err := tx.WriteTo(w)
				return err
			})
		})
	})
	if err != nil {
		s.markChanged()
		return fmt.Errorf("copying %s: %w", s.path, err)
	}
	return nil
}
