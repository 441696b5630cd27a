package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

// Failback is a region of a domain that awaits failback.
type Failback struct {
	Domain string    `json:"domain"`
	Region string    `json:"region"`
	Since  time.Time `json:"created_at"` // when the clients of the region moved to other regions
	// Own is true if this node, and not another node, has stored the failback.
	Own bool `json:"-"`
}

func (f *Failback) key() replica.Key { return failbackKey(f.Domain, f.Region) }

func failbackKey(domain, region string) replica.Key {
	return replica.Key{Kind: KindFailback, Name: domain + " " + region}
}

// FailbackOf returns the domain and region of an object of KindFailback.
func FailbackOf(key replica.Key) (domain, region string) {
	domain, region, _ = strings.Cut(key.Name, " ")
	return domain, region
}

// LoadFailbacks returns the regions that await failback, by domain and region. It omits regions that this node does not
// accept from other nodes.
func (s *Store) LoadFailbacks() (list []Failback, err error) {
	for _, o := range s.Objects() {
		if o.Kind != KindFailback || o.Deleted || !Readable(&o) || s.HeldReason(o.Key) != nil {
			continue
		}
		var f Failback
		if err := json.Unmarshal(o.Value, &f); err != nil {
			return nil, fmt.Errorf("failback %q: %w", o.Name, err)
		}
		f.Own = o.Version.Node == s.o.NodeID
		list = append(list, f)
	}
	return list, nil
}

// PutFailback stores that a region awaits failback.
func (b *Batch) PutFailback(f Failback) {
	value, err := json.Marshal(f)
	if err != nil {
		b.err = fmt.Errorf("encoding the failback of %q: %w", f.Domain, err)
		return
	}
	b.changes = append(b.changes, func(w *writer) {
		if w.table != nil {
			w.decide(f.key(), value)
			w.putMarks()
		}
	})
}

// DeleteFailback deletes the failback of a region, if it exists.
func (b *Batch) DeleteFailback(domain, region string) {
	b.changes = append(b.changes, func(w *writer) {
		if w.table == nil || w.err != nil {
			return
		}
		key := failbackKey(domain, region)
		if o, there := w.table.Get(key); !there || o.Deleted {
			return
		}
		o := w.table.Delete(key)
		w.putVersion(&o)
		w.putMarks()
	})
}
