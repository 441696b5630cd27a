package registry

import (
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

// minErrorInterval is the least time between two lines about a store that does not take what should be saved.
const minErrorInterval = time.Minute

// saver writes batches to the store while the writer goes on. At most one batch is under way.
type saver struct {
	batches chan []store.Status
	results chan saveResult
}

// saveResult is the outcome of saving a batch.
type saveResult struct {
	batch []store.Status
	err   error
}

// startSaver starts the goroutine that writes; closing batches ends it, and it closes results then. Without a store
// there is nothing to start, and results never yields.
func startSaver(statuses StatusStore) saver {
	if statuses == nil {
		return saver{}
	}
	s := saver{batches: make(chan []store.Status, 1), results: make(chan saveResult, 1)}
	go func() {
		defer close(s.results)
		for batch := range s.batches {
			s.results <- saveResult{batch, statuses.SaveStatuses(batch)}
		}
	}()
	return s
}

// sendBatch sends the next batch on its way if there is one and its time has come.
func (w *writer) sendBatch(s saver, now time.Time) {
	m := &w.saving
	if !m.ready || m.busy || s.batches == nil {
		return
	}
	m.ready = false
	batch := w.nextBatch(now)
	if len(batch) == 0 {
		return
	}
	m.busy = true
	s.batches <- batch
	if len(m.unsaved)+len(m.deleted) > 0 {
		w.scheduleSave()
	}
}

// handleSaveResult takes the result of a batch.
func (w *writer) handleSaveResult(result saveResult, now time.Time) {
	w.saving.busy = false
	if result.err == nil {
		return
	}
	w.requeueBatch(result.batch)
	if last := w.saving.lastError; last.IsZero() || now.Sub(last) >= minErrorInterval {
		w.saving.lastError = now
		w.options.Logger.Error().Err(result.err).Int("backends", len(result.batch)).
			Msg("saving the last known status of backends; answers are not affected, and it is tried again")
	}
}

// saveRemaining saves what is left and waits until it is stored. A batch that fails is not tried again: the process is
// ending.
func (w *writer) saveRemaining(s saver) {
	if s.batches == nil {
		return
	}
	if w.saving.busy {
		w.handleSaveResult(<-s.results, w.options.Now())
	}
	for {
		batch := w.nextBatch(w.options.Now())
		if len(batch) == 0 {
			break
		}
		s.batches <- batch
		if result := <-s.results; result.err != nil {
			w.options.Logger.Error().Err(result.err).Msg("saving the last known status of backends on stop")
			break
		}
	}
	close(s.batches)
	<-s.results
}
