package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

const (
	// MaxApplied is the maximum number of stored apply states. PutApplied deletes the oldest states first.
	MaxApplied = 20
	// MaxAppliedSize is the maximum size of a state in bytes. maxAppliedTotal is the maximum size of all states.
	MaxAppliedSize  = 8 << 20
	maxAppliedTotal = 32 << 20
)

// PutApplied stores the state that undoes the apply of a document, under the name of the apply. The state must have at
// most MaxAppliedSize bytes. PutApplied creates the bucket, which stores of earlier versions lack.
func (s *Store) PutApplied(name string, state []byte) error {
	if len(state) > MaxAppliedSize {
		return fmt.Errorf("the state of apply %s has %d octets: at most %d are kept", name, len(state), MaxAppliedSize)
	}
	return s.updateAndCopySoon(func(w *writer) {
		w.addBuckets(bucketApplied)
		b := w.open(bucketApplied)
		if w.err != nil {
			return
		}
		next := uint64(1)
		if key, _ := b.Cursor().Last(); key != nil {
			next = binary.BigEndian.Uint64(key) + 1
		}
		w.putRecord(bucketApplied, auditKey(next), append(append([]byte(name), 0), state...))
		w.pruneApplied(b)
	})
}

// pruneApplied deletes the oldest states beyond MaxApplied and maxAppliedTotal.
func (w *writer) pruneApplied(b *bolt.Bucket) {
	var over [][]byte
	count, total := 0, 0
	c := b.Cursor()
	for key, record := c.Last(); key != nil; key, record = c.Prev() {
		count, total = count+1, total+len(record)
		if count > MaxApplied || total > maxAppliedTotal {
			over = append(over, bytes.Clone(key))
		}
	}
	for _, key := range over {
		w.delete(bucketApplied, key)
	}
}

// Applied returns the state of an apply by its name, or nil if it is missing. The caller owns the state.
func (s *Store) Applied(name string) (state []byte, err error) {
	err = guarded(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(bucketApplied))
			if b == nil {
				return nil
			}
			return b.ForEach(func(key, record []byte) error {
				value, _, err := unseal(bucketApplied, key, record)
				if rest, found := bytes.CutPrefix(value, append([]byte(name), 0)); err == nil && found {
					state = bytes.Clone(rest)
				}
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", bucketApplied, s.path, err)
	}
	return state, nil
}

// DeleteApplied deletes the state of an apply, if it exists.
func (s *Store) DeleteApplied(name string) error {
	return s.updateAndCopySoon(func(w *writer) {
		w.addBuckets(bucketApplied)
		b := w.open(bucketApplied)
		if w.err != nil {
			return
		}
		var keys [][]byte
		w.err = b.ForEach(func(key, record []byte) error {
			value, _, err := unseal(bucketApplied, key, record)
			if bytes.HasPrefix(value, append([]byte(name), 0)) {
				keys = append(keys, bytes.Clone(key))
			}
			return err
		})
		for _, key := range keys {
			w.delete(bucketApplied, key)
		}
	})
}
