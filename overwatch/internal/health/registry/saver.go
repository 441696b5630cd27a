package registry

import (
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

// saveErrorEvery is the least time between two lines about a store that does not take what should be saved.
const saveErrorEvery = time.Minute

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

// save sends the next batch on its way if there is one and its time has come.
func (w *writer) save(s saver, now time.Time) {
	m := &w.memory
	if !m.ready || m.busy || s.batches == nil {
		return
	}
	m.ready = false
	batch := w.batch(now)
	if len(batch) == 0 {
		return
	}
	m.busy = true
	s.batches <- batch
	if len(m.unsaved)+len(m.gone) > 0 {
		w.askToSave()
	}
}

// saved takes the result of a batch.
func (w *writer) saved(result saveResult, now time.Time) {
	w.memory.busy = false
	if result.err == nil {
		return
	}
	w.failed(result.batch)
	if last := w.memory.lastError; last.IsZero() || now.Sub(last) >= saveErrorEvery {
		w.memory.lastError = now
		w.options.Logger.Error().Err(result.err).Int("backends", len(result.batch)).
			Msg("saving the last known status of backends; answers are not affected, and it is tried again")
	}
}

// finish saves what is left and waits until it is stored. A batch that fails is not tried again: the process is ending.
func (w *writer) finish(s saver) {
	if s.batches == nil {
		return
	}
	if w.memory.busy {
		w.saved(<-s.results, w.options.Now())
	}
	for {
		batch := w.batch(w.options.Now())
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
