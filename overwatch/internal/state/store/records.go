package store

import (
	"time"

	"gslb.internal/shared/model"
)

// ExpireRecord ends a DNS record on this node, unless a record with another end has replaced it. The expiration is
// local, as for admin states (Store.ExpireOrder): a later change of the record on another node replaces it as usual.
func (b *Batch) ExpireRecord(key string, expiresAt time.Time) {
	bucket, name := bucketAndKey(KindRecord, key)
	b.changes = append(b.changes, func(w *writer) {
		opened := w.open(bucket)
		if w.err != nil {
			return
		}
		sealed := opened.Get([]byte(name))
		if sealed == nil {
			return
		}
		value, _, err := unseal(bucket, []byte(name), sealed)
		if err != nil {
			w.err = err
			return
		}
		if stored, err := model.Decode[model.Record](value); err == nil && stored.ExpiresAt.Equal(expiresAt) {
			w.deleteExpired(bucket, []byte(name))
		}
	})
}
