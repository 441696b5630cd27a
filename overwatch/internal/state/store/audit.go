package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Entry makes the entry of the audit log that a change takes along into its transaction. It is given the number and the value of
// the newest entry, 0 and nil if there is none, and returns those of the next. It is called while the transaction is written: it
// must not block, and an error fails every change of that transaction. The value is valid only during the call.
type Entry func(last uint64, newest []byte) (id uint64, entry []byte, err error)

// AppendAudit stores an entry of its own.
func (s *Store) AppendAudit(e Entry) error { return s.keep(func(*writer) {}, e) }

// append adds entries behind the newest.
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

// DeleteAudit deletes the entries of these numbers; that one is not there is no error.
func (s *Store) DeleteAudit(ids []uint64) error {
	return s.keep(func(w *writer) {
		for _, id := range ids {
			w.delete(bucketAudit, auditKey(id))
		}
	})
}

// AuditFrom returns at most limit entries from number id on, upwards. The caller owns them.
func (s *Store) AuditFrom(id uint64, limit int) ([][]byte, error) {
	return s.auditEntries(limit, func(c *bolt.Cursor) (key, record []byte) { return c.Seek(auditKey(id)) }, (*bolt.Cursor).Next)
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

func (s *Store) auditEntries(limit int, first, next func(*bolt.Cursor) (key, record []byte)) (entries [][]byte, err error) {
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
