package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"gslb.internal/overwatch/internal/state/replica"
)

// Entry creates the audit entry of a change, in the transaction of the change. Its arguments are the number and the
// value of the latest entry, or 0 and nil. It returns the number and the value of the next entry. It must not block.
// Its error fails all changes of the transaction. newest is valid only during the call.
type Entry func(last uint64, newest []byte) (id uint64, entry []byte, err error)

// Audit is a part of the audit log. Each part has a bucket.
type Audit struct {
	store  *Store
	bucket string
}

// Changes returns the part of the audit log about changes. Writes add their entries to this part.
func (s *Store) Changes() Audit { return Audit{s, bucketAudit} }

// Refusals returns the part of the audit log about rejections.
func (s *Store) Refusals() Audit { return Audit{s, bucketRefusals} }

// NewestVersion returns the latest version of the replicated objects. In the transaction of a change, it is the version
// of the change. Only an Entry may call it, because its transaction holds the lock of the versions.
func (s *Store) NewestVersion() replica.Version { return s.table.Newest() }

// Received returns the part of the audit log about changes of other nodes.
func (s *Store) Received() Audit { return Audit{s, bucketReceived} }

// MergeEntries are the audit entries of a merge: about replaced changes of this node, and about changes of other nodes.
type MergeEntries struct{ Changes, Received []Entry }

// appendMerge adds the entries of a merge.
func (w *writer) appendMerge(e MergeEntries) {
	w.append(e.Changes)
	if len(e.Received) > 0 {
		w.addBuckets(bucketReceived)
	}
	for _, one := range e.Received {
		w.appendTo(bucketReceived, one)
	}
}

// Append stores an entry without a change. It creates a missing bucket, because stores of earlier versions lack the
// buckets of rejections and of other nodes' changes.
func (a Audit) Append(e Entry) error {
	return a.store.updateAndCopySoon(func(w *writer) {
		w.addBuckets(a.bucket)
		w.appendTo(a.bucket, e)
	})
}

// Delete deletes the entries with these numbers. It ignores missing entries.
func (a Audit) Delete(ids []uint64) error {
	return a.store.updateAndCopySoon(func(w *writer) {
		for _, id := range ids {
			w.delete(a.bucket, auditKey(id))
		}
	})
}

// From returns at most limit entries from number id on, in ascending order. The caller owns them.
func (a Audit) From(id uint64, limit int) ([][]byte, error) {
	return a.entries(limit, func(c *bolt.Cursor) (key, record []byte) { return c.Seek(auditKey(id)) },
		(*bolt.Cursor).Next)
}

// Before returns at most limit entries below number id, in descending order. The caller owns them.
func (a Audit) Before(id uint64, limit int) ([][]byte, error) {
	first := func(c *bolt.Cursor) (key, record []byte) {
		if key, _ := c.Seek(auditKey(id)); key == nil {
			return c.Last()
		}
		return c.Prev()
	}
	return a.entries(limit, first, (*bolt.Cursor).Prev)
}

// append adds the entries of changes after the latest entry.
func (w *writer) append(entries []Entry) {
	for _, e := range entries {
		if e != nil {
			w.appendTo(bucketAudit, e)
		}
	}
}

// appendTo adds an entry after the latest entry of a bucket.
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
	w.putRecord(bucket, auditKey(id), value)
}

// entries reads at most limit entries. A missing bucket has no entries.
func (a Audit) entries(limit int, first, next func(*bolt.Cursor) (key, record []byte)) (entries [][]byte, err error) {
	err = guarded(func() error {
		return a.store.db.View(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(a.bucket))
			if b == nil {
				return nil
			}
			c := b.Cursor()
			for key, record := first(c); key != nil && len(entries) < limit; key, record = next(c) {
				value, _, err := unseal(a.bucket, key, record)
				if err != nil {
					return err
				}
				entries = append(entries, bytes.Clone(value))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", a.bucket, a.store.path, err)
	}
	return entries, nil
}

func auditKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }
