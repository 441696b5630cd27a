package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"

	"gslb.internal/overwatch/internal/state/replica"
)

// ErrNotDurable is wrapped by the error of every write that has not reached the disk: a full disk, a quota, a device
// error. Earlier contents are unchanged, and later writes are executed as usual.
var ErrNotDurable = errors.New("not stored")

// change is the part of one caller in a transaction.
type change struct {
	apply func(*writer)
	done  bool
	err   error
}

// update applies a change and returns when it is on disk. Changes that arrive during a transaction share the next
// transaction.
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

// Writing returns the age of the current transaction, or 0 without a transaction.
func (s *Store) Writing() time.Duration {
	if began := s.writing.Load(); began != nil {
		return time.Since(*began)
	}
	return 0
}

// hanging is the age from which a transaction hangs.
const hanging = 5 * time.Second

// Failing reports whether writes fail: the disk is full, faulty, read-only or hangs. It returns false after the next
// successful write.
func (s *Store) Failing() bool { return s.failed.Load() || s.Writing() >= hanging }

func (s *Store) commit(batch []*change) error {
	began := time.Now()
	s.writing.Store(&began)
	defer s.writing.Store(nil)
	err := guarded(func() error {
		return s.db.Update(func(tx *bolt.Tx) error {
			w := &writer{tx: tx, digests: make(map[string]digest), table: s.table}
			for _, c := range batch {
				c.apply(w)
			}
			return w.finish()
		})
	})
	if err != nil {
		s.failed.Store(true) // a smaller write might succeed; probe tests it
		s.rereadTable()
		return fmt.Errorf("%w in %s: %w", ErrNotDurable, s.path, err)
	}
	s.showTable()
	return nil
}

// guarded runs f and converts a panic or a memory fault in this goroutine to an error. A mapped file that shrinks
// causes such a fault.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damaged("%v", p)
		}
	}()
	return f()
}

// writer changes records in a transaction and updates the digests. After an error it ignores further calls.
type writer struct {
	tx      *bolt.Tx
	digests map[string]digest
	err     error

	table *replica.Table // nil: records have no versions
	given bool           // the written objects have versions of another node
}

// putRecord stores a value if it differs from the stored value.
func (w *writer) putRecord(bucket string, key, value []byte) {
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
	w.version(bucket, key, value)
}

// delete removes a record, if it exists.
func (w *writer) delete(bucket string, key []byte) {
	b := w.open(bucket)
	if w.err != nil {
		return
	}
	old := b.Get(key)
	w.count(bucket, key, old, -1)
	if w.err == nil {
		w.err = b.Delete(key)
	}
	if old != nil {
		w.version(bucket, key, nil)
	}
}

// count adds a record to the digest of a bucket, or removes it. It accepts a missing record.
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

// open returns a bucket, and reads its digest at its first use in the transaction.
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

// read calls each for every record of a bucket, in the order of keys. key and value are valid only during the call.
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

// readRecord returns the value of a record, or nil if it does not exist. The caller owns the value.
func (s *Store) readRecord(bucket string, key []byte) (value []byte, err error) {
	err = guarded(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			record := tx.Bucket([]byte(bucket)).Get(key)
			if record == nil {
				return nil
			}
			stored, _, err := unseal(bucket, key, record)
			value = bytes.Clone(stored)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading %q in %s of %s: %w", key, bucket, s.path, err)
	}
	return value, nil
}

// number returns a 4-byte number in bucketMeta, or 0 if it is missing.
func (s *Store) number(key []byte) (uint32, error) {
	value, err := s.readRecord(bucketMeta, key)
	if len(value) != 4 {
		return 0, err
	}
	return binary.BigEndian.Uint32(value), nil
}

// readSound is read for independent records: it logs and skips a record that cannot be decoded.
func (s *Store) readSound(bucket string, each func(key, value []byte) error) error {
	return s.read(bucket, func(key, value []byte) error {
		if err := each(key, value); err != nil {
			s.log.Error().Err(err).Str("bucket", bucket).Msg("a stored record is left out")
		}
		return nil
	})
}
