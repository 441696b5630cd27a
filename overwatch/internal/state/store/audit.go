package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Entry makes the audit entry of a change, in the transaction of the change. Its arguments are the number and the value
// of the newest entry, 0 and nil without one; it returns those of the next. It must not block. An error fails all
// changes of the transaction. newest is valid only during the call.
type Entry func(last uint64, newest []byte) (id uint64, entry []byte, err error)

// AppendAudit stores an audit entry that belongs to no stored change.
func (s *Store) AppendAudit(e Entry) error { return s.keep(func(*writer) {}, e) }

// DeleteAudit deletes the entries of these numbers. Missing ones are no error.
func (s *Store) DeleteAudit(ids []uint64) error { return s.deleteAudit(bucketAudit, ids) }

// AuditFrom returns at most limit entries from number id on, upwards. The caller owns them.
func (s *Store) AuditFrom(id uint64, limit int) ([][]byte, error) {
	return s.auditFrom(bucketAudit, id, limit)
}

// AuditBefore returns at most limit entries below number id, downwards. The caller owns them.
func (s *Store) AuditBefore(id uint64, limit int) ([][]byte, error) {
	return s.auditBefore(bucketAudit, id, limit)
}

// Refusals returns the store of the audit entries about refusals, which have a bucket of their own.
func (s *Store) Refusals() Refusals { return Refusals{s} }

// Refusals has the methods of Store for the audit entries about refusals.
type Refusals struct{ store *Store }

// AppendAudit is Store.AppendAudit. It makes the bucket, which stores of earlier versions lack.
func (r Refusals) AppendAudit(e Entry) error {
	return r.store.keep(func(w *writer) {
		w.addBuckets(bucketRefusals)
		w.appendTo(bucketRefusals, e)
	})
}

// DeleteAudit is Store.DeleteAudit.
func (r Refusals) DeleteAudit(ids []uint64) error { return r.store.deleteAudit(bucketRefusals, ids) }

// AuditFrom is Store.AuditFrom.
func (r Refusals) AuditFrom(id uint64, limit int) ([][]byte, error) {
	return r.store.auditFrom(bucketRefusals, id, limit)
}

// AuditBefore is Store.AuditBefore.
func (r Refusals) AuditBefore(id uint64, limit int) ([][]byte, error) {
	return r.store.auditBefore(bucketRefusals, id, limit)
}

// append adds the entries of changes after the newest.
func (w *writer) append(entries []Entry) {
	for _, e := range entries {
		if e != nil {
			w.appendTo(bucketAudit, e)
		}
	}
}

// appendTo adds an entry after the newest of a bucket.
func (w *writer) appendTo(bucket string, e Entry) {
	b := w.open(bucket)
	if w.err != nil {
		return
	}
	var last uint64
	var newest []byte
	if key, record := b.Cursor().Last(); key != nil {
		last = binary.BigEndian.Uint64(key)
		if newest, _, w.err = unseal(bucket, key, record); w.err != nil {
			return
		}
	}
	id, value, err := e(last, newest)
	if err != nil {
		w.err = err
		return
	}
	w.put(bucket, auditKey(id), value)
}

func (s *Store) deleteAudit(bucket string, ids []uint64) error {
	return s.keep(func(w *writer) {
		for _, id := range ids {
			w.delete(bucket, auditKey(id))
		}
	})
}

func (s *Store) auditFrom(bucket string, id uint64, limit int) ([][]byte, error) {
	return s.auditEntries(bucket, limit, func(c *bolt.Cursor) (key, record []byte) { return c.Seek(auditKey(id)) },
		(*bolt.Cursor).Next)
}

func (s *Store) auditBefore(bucket string, id uint64, limit int) ([][]byte, error) {
	first := func(c *bolt.Cursor) (key, record []byte) {
		if key, _ := c.Seek(auditKey(id)); key == nil {
			return c.Last()
		}
		return c.Prev()
	}
	return s.auditEntries(bucket, limit, first, (*bolt.Cursor).Prev)
}

// auditEntries reads at most limit entries. A bucket that is missing has none.
func (s *Store) auditEntries(bucket string, limit int, first,
	next func(*bolt.Cursor) (key, record []byte)) (entries [][]byte, err error) {
	err = guarded(func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(bucket))
			if b == nil {
				return nil
			}
			c := b.Cursor()
			for key, record := first(c); key != nil && len(entries) < limit; key, record = next(c) {
				value, _, err := unseal(bucket, key, record)
				if err != nil {
					return err
				}
				entries = append(entries, bytes.Clone(value))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", bucket, s.path, err)
	}
	return entries, nil
}

func auditKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
