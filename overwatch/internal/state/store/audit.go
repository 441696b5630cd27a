package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Entry makes the audit entry of a change, inside the change's transaction. It is given the number and the value of
// the newest entry, 0 and nil for none, and returns those of the next. It must not block; an error fails every change
// of that transaction. newest is valid only during the call.
type Entry func(last uint64, newest []byte) (id uint64, entry []byte, err error)

// AppendAudit stores an audit entry that belongs to no stored change.
func (s *Store) AppendAudit(e Entry) error { return s.keep(func(*writer) {}, e) }

// append adds entries after the newest.
func (w *writer) append(entries []Entry) {
	for _, e := range entries {
		if e == nil {
			continue
		}
		b := w.open(bucketAudit)
		if w.err != nil {
			return
		}
		var last uint64
		var newest []byte
		if key, record := b.Cursor().Last(); key != nil {
			last = binary.BigEndian.Uint64(key)
			if newest, _, w.err = unseal(bucketAudit, key, record); w.err != nil {
				return
			}
		}
		id, value, err := e(last, newest)
		if err != nil {
			w.err = err
			return
		}
		w.put(bucketAudit, auditKey(id), value)
	}
}

// DeleteAudit deletes the entries of these numbers. Missing ones are no error.
func (s *Store) DeleteAudit(ids []uint64) error {
	return s.keep(func(w *writer) {
		for _, id := range ids {
			w.delete(bucketAudit, auditKey(id))
		}
	})
}

// AuditFrom returns at most limit entries from number id on, upwards. The caller owns them.
func (s *Store) AuditFrom(id uint64, limit int) ([][]byte, error) {
	return s.auditEntries(limit, func(c *bolt.Cursor) (key, record []byte) { return c.Seek(auditKey(id)) },
		(*bolt.Cursor).Next)
}

// AuditBefore returns at most limit entries below number id, downwards. The caller owns them.
func (s *Store) AuditBefore(id uint64, limit int) ([][]byte, error) {
	first := func(c *bolt.Cursor) (key, record []byte) {
		if key, _ := c.Seek(auditKey(id)); key == nil {
			return c.Last()
		}
		return c.Prev()
	}
	return s.auditEntries(limit, first, (*bolt.Cursor).Prev)
}

func (s *Store) auditEntries(limit int, first, next func(*bolt.Cursor) (key, record []byte)) (entries [][]byte,
	err error) {
	err = guarded(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			c := tx.Bucket([]byte(bucketAudit)).Cursor()
			for key, record := first(c); key != nil && len(entries) < limit; key, record = next(c) {
				value, _, err := unseal(bucketAudit, key, record)
				if err != nil {
					return err
				}
				entries = append(entries, bytes.Clone(value))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", bucketAudit, s.path, err)
	}
	return entries, nil
}

func auditKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
