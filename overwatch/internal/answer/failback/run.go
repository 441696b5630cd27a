package failback

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

const (
	// maxBatch is the maximum number of regions in a transaction.
	maxBatch = 1000
	// retryPause is the pause after a failed transaction.
	retryPause = 5 * time.Second
	// retention is the time for which the node keeps its waits of domains and regions that are not in the configuration.
	// It is longer than a maintenance that disables a domain.
	retention = 24 * time.Hour
)

// Run stores the changes of the Tracker, makes automatic failbacks and deletes unused waits, until ctx ends. It returns
// nil.
func (t *Tracker) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			t.save()
			return nil
		case <-t.wake:
		case <-timer.C:
		}
		t.endDue()
		saved := t.save()
		wait := t.untilNext()
		if !saved {
			wait = min(wait, retryPause)
		}
		timer.Reset(wait)
	}
}

// save stores the unsaved changes. It returns false after a failure; the changes then stay unsaved.
func (t *Tracker) save() bool {
	for {
		written := t.takeUnsaved()
		if len(written) == 0 {
			return true
		}
		var batch store.Batch
		for at, a := range written {
			if a == nil {
				batch.DeleteFailback(at.domain, at.region)
			} else {
				batch.PutFailback(store.Failback{Domain: at.domain, Region: at.region, Since: a.since})
			}
		}
		err := t.o.Store.Write(&batch)
		t.mu.Lock()
		t.saving = nil
		for at, a := range written {
			if now := t.find(at); err != nil || (now == nil) != (a == nil) {
				t.unsaved[at] = struct{}{} // even after a change during the transaction
			}
		}
		t.mu.Unlock()
		if err != nil {
			t.o.Logger.Error().Err(err).Int("regions", len(written)).
				Msg("storing which regions await failback failed and will be retried: a restart would return their clients")
			return false
		}
	}
}

// takeUnsaved removes up to maxBatch unsaved regions, and returns their states, nil for a region that does not await
// failback.
func (t *Tracker) takeUnsaved() map[place]*awaiting {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := map[place]*awaiting{}
	for at := range t.unsaved {
		if len(taken) == maxBatch {
			break
		}
		taken[at] = nil
		if a := t.find(at); a != nil {
			same := *a
			taken[at] = &same
		}
		delete(t.unsaved, at)
	}
	if len(t.unsaved) == 0 {
		t.unsaved = map[place]struct{}{} // releases the memory, and the time of an iteration, of earlier changes
	}
	t.saving = taken
	return taken
}

// find returns the state of a region, nil if it does not await failback. The caller holds mu.
func (t *Tracker) find(at place) *awaiting {
	if d := t.domains[at.domain]; d != nil {
		return d.awaiting[at.region]
	}
	return nil
}
