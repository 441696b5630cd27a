package registry

import (
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

// minErrorInterval is the minimum time between two log lines about failed storage.
const minErrorInterval = time.Minute

// saver stores batches sequentially in its own goroutine.
type saver struct {
	batches chan []store.Status
	results chan saveResult
}

// saveResult is the result of storing a batch.
type saveResult struct {
	batch []store.Status
	err   error
}

// startSaver starts the goroutine of a saver. Closing batches ends it, and it then closes results. Without a store, it
// starts no goroutine, and results never yields.
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

// sendBatch sends the next batch to the saver, if it is time and the saver is idle.
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

// handleSaveResult logs and requeues a failed batch.
func (w *writer) handleSaveResult(result saveResult, now time.Time) {
	w.saving.busy = false
	if result.err == nil {
		return
	}
	w.requeueBatch(result.batch)
	if last := w.saving.lastError; last.IsZero() || now.Sub(last) >= minErrorInterval {
		w.saving.lastError = now
		w.options.Logger.Error().Err(result.err).Int("backends", len(result.batch)).
			Msg("storing the status of backends failed; answers are not affected, the node retries")
	}
}

// saveRemaining stores all queued records and waits for the result. It does not retry a failed batch, since the process
// ends.
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
			w.options.Logger.Error().Err(result.err).Msg("storing the status of backends at shutdown failed")
			break
		}
	}
	close(s.batches)
	<-s.results
}
