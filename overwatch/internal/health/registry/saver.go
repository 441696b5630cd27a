package registry

import "time"

// saveErrorEvery is the least time between two lines about a store that does not take what should be saved.
const saveErrorEvery = time.Minute

// saver writes batches to the store while the writer goes on. At most one batch is under way.
type saver struct {
	batches chan saveBatch
	results chan saveResult
}

// saveBatch holds the records that are saved together, and the callers that wait for them.
type saveBatch struct {
	records []Remembered
	waiting []chan error
}

// saveResult is the outcome of saving a batch.
type saveResult struct {
	batch []Remembered
	err   error
}

// startSaver starts the goroutine that writes; closing batches ends it, and it closes results then. Without a store
// there is nothing to start, and results never yields.
func startSaver(store StatusStore) saver {
	if store == nil {
		return saver{}
	}
	s := saver{batches: make(chan saveBatch, 1), results: make(chan saveResult, 1)}
	go func() {
		defer close(s.results)
		for batch := range s.batches {
			err := store.SaveStatuses(batch.records)
			for _, done := range batch.waiting {
				done <- err
			}
			s.results <- saveResult{batch.records, err}
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
	batch, waiting := w.batch(now)
	if len(batch) == 0 {
		for _, done := range waiting {
			done <- nil // what they wait for is gone
		}
		return
	}
	m.busy = true
	s.batches <- saveBatch{batch, waiting}
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
		batch, waiting := w.batch(w.options.Now())
		if len(batch) == 0 {
			for _, done := range waiting {
				done <- nil
			}
			break
		}
		s.batches <- saveBatch{batch, waiting}
		if result := <-s.results; result.err != nil {
			w.options.Logger.Error().Err(result.err).Msg("saving the last known status of backends on stop")
			break
		}
	}
	close(s.batches)
	<-s.results
}
