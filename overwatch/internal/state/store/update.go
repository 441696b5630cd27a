package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

// ErrNotDurable is wrapped by the error of every write that did not reach the disk: a full disk, a quota, a device error. What was
// stored before is untouched, and the next write is tried like any other.
var ErrNotDurable = errors.New("not stored")

// change is one caller's part of a transaction.
type change struct {
	apply func(*writer)
	done  bool
	err   error
}

// update applies a change and returns when it is on the disk. Changes that come while another transaction is being written go
// together into the next one.
func (s *Store) update(apply func(*writer)) error {
	c := &change{apply: apply}
	s.queueMu.Lock()
	s.queue = append(s.queue, c)
	s.queueMu.Unlock()

	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	if !c.done {
		s.queueMu.Lock()
		batch := s.queue
		s.queue = nil
		s.queueMu.Unlock()
		err := s.commit(batch)
		for _, other := range batch {
			other.done, other.err = true, err
		}
	}
	return c.err
}

// Writing is how long the transaction has taken that is being written, 0 when none is.
func (s *Store) Writing() time.Duration {
	if began := s.writing.Load(); began != nil {
		return time.Since(*began)
	}
	return 0
}

// hanging is how long a transaction takes on a disk that hangs, or more.
const hanging = 5 * time.Second

// Failing reports whether nothing can be stored: the disk is full, failing or read-only, or hangs. It ends by itself.
func (s *Store) Failing() bool { return s.failed.Load() || s.Writing() >= hanging }

func (s *Store) commit(batch []*change) error {
	began := time.Now()
	s.writing.Store(&began)
	defer s.writing.Store(nil)
	err := guarded(func() error {
		return s.db.Update(func(tx *bolt.Tx) error {
			w := &writer{tx: tx, digests: make(map[string]digest)}
			for _, c := range batch {
				c.apply(w)
			}
			return w.finish()
		})
	})
	if err != nil {
		s.failed.Store(true) // also if something smaller fits; probe finds out
		return fmt.Errorf("%w in %s: %w", ErrNotDurable, s.path, err)
	}
	return nil
}

// guarded runs f and turns a panic or a memory fault (the file shrank under its mapping) in this goroutine into an error.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damaged("%v", p)
		}
	}()
	return f()
}

// writer changes records within a transaction and keeps the digests. The first error sticks.
type writer struct {
	tx      *bolt.Tx
	digests map[string]digest
	err     error
}

// put stores a value, and does nothing if the very same is stored already.
func (w *writer) put(bucket string, key, value []byte) {
	b := w.open(bucket)
	if w.err != nil {
		return
	}
	record := seal(bucket, key, value)
	old := b.Get(key)
	if string(old) == string(record) {
		return
	}
	w.count(bucket, key, old, -1)
	w.count(bucket, key, record, +1)
	if w.err == nil {
		w.err = b.Put(key, record)
	}
}

// delete removes a record if it is there.
func (w *writer) delete(bucket string, key []byte) {
	b := w.open(bucket)
	if w.err != nil {
		return
	}
	w.count(bucket, key, b.Get(key), -1)
	if w.err == nil {
		w.err = b.Delete(key)
	}
}

// count adds a record to the bucket's digest or takes it out; no record changes nothing.
func (w *writer) count(bucket string, key, record []byte, by int) {
	if record == nil || w.err != nil {
		return
	}
	_, checksum, err := unseal(bucket, key, record)
	if err != nil {
		w.err = err
		return
	}
	d := w.digests[bucket]
	d.records += uint64(by)
	d.total += uint64(by) * checksum
	w.digests[bucket] = d
}

// open returns a bucket, and reads its digest when it is first used in the transaction.
func (w *writer) open(bucket string) *bolt.Bucket {
	b := w.tx.Bucket([]byte(bucket))
	if b == nil && w.err == nil {
		w.err = damaged("bucket %s is missing", bucket)
	}
	if _, known := w.digests[bucket]; known || w.err != nil {
		return b
	}
	record := w.tx.Bucket([]byte(bucketDigests)).Get([]byte(bucket))
	value, _, err := unseal(bucketDigests, []byte(bucket), record)
	d, ok := decodeDigest(value)
	if err != nil || !ok {
		w.err = damaged("digest of bucket %s", bucket)
	}
	w.digests[bucket] = d
	return b
}

// finish writes the digests.
func (w *writer) finish() error {
	for bucket, d := range w.digests {
		if w.err == nil {
			key := []byte(bucket)
			w.err = w.tx.Bucket([]byte(bucketDigests)).Put(key, seal(bucketDigests, key, d.encode()))
		}
	}
	return w.err
}

// read calls each for every record of a bucket, in order of their keys; key and value are valid only during the call.
func (s *Store) read(bucket string, each func(key, value []byte) error) error {
	err := guarded(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			return tx.Bucket([]byte(bucket)).ForEach(func(key, record []byte) error {
				value, _, err := unseal(bucket, key, record)
				if err != nil {
					return err
				}
				return each(key, value)
			})
		})
	})
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", bucket, s.path, err)
	}
	return nil
}

// readSound is read for records of which one that cannot be decoded is no reason to do without the others: it is left out, with
// a line in the log.
func (s *Store) readSound(bucket string, each func(key, value []byte) error) error {
	return s.read(bucket, func(key, value []byte) error {
		if err := each(key, value); err != nil {
			s.log.Error().Err(err).Str("bucket", bucket).Msg("a stored record is left out")
		}
		return nil
	})
}
