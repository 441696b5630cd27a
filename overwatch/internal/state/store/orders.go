package store

import (
	"encoding/json"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/shared/api"
)

// orderBucket returns the bucket of a kind of admin states. The key of a record is the service and the address, as
// operators write them.
func orderBucket(kind api.OrderKind) string {
	switch kind {
	case api.OrderWeight:
		return bucketWeights
	case api.OrderDrain:
		return bucketDrains
	default:
		return bucketOverrides
	}
}

// LoadOrders returns all admin states, including expired ones, sorted by kind, service and address.
func (s *Store) LoadOrders() (all []Order, err error) {
	begun := map[string]time.Time{}
	err = s.readSound(bucketBegun, func(key, value []byte) error {
		var at time.Time
		err := json.Unmarshal(value, &at)
		begun[string(key)] = at
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, kind := range api.OrderKinds() {
		list, err := load[Order](s, orderBucket(kind))
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			o.Kind = kind
			at, told := begun[string(begunKey(kind, o.Service, o.Address))]
			o.Begun = told && o.StartsAt != nil && at.Equal(*o.StartsAt)
			all = append(all, o)
		}
	}
	return all, nil
}

// PutOrder stores an admin state and replaces the admin state with the same kind, service and address.
func (s *Store) PutOrder(o Order, with ...Entry) error {
	value, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding the %s of %s: %w", o.Kind, o.Service, err)
	}
	return s.updateAndCopySoon(func(w *writer) {
		w.putRecord(orderBucket(o.Kind), orderKey(o.Service, o.Address),
			value)
	}, with...)
}

// PutOrder stores an admin state and replaces the admin state with the same kind, service and address.
func (b *Batch) PutOrder(o Order) {
	b.addObject(orderBucket(o.Kind), string(orderKey(o.Service, o.Address)), o)
}

// DeleteOrder deletes an admin state. A missing admin state is not an error.
func (b *Batch) DeleteOrder(kind api.OrderKind, service, address string) {
	b.changes = append(b.changes, func(w *writer) { w.dropOrder(kind, service, address) })
}

// DeleteOrder deletes an admin state, if it exists.
func (s *Store) DeleteOrder(kind api.OrderKind, service, address string, with ...Entry) error {
	return s.updateAndCopySoon(func(w *writer) { w.dropOrder(kind, service, address) }, with...)
}

// ExpireOrder ends an admin state on this node and appends the entries, unless an admin state with another end has
// replaced it. The expiration is local: each node ends the admin state according to its own clock, so that a fast clock
// affects only its own node.
func (s *Store) ExpireOrder(kind api.OrderKind, service, address string, expiresAt time.Time, with ...Entry) error {
	return s.updateAndCopySoon(func(w *writer) {
		stored, found := w.order(kind, service, address)
		if found && stored.ExpiresAt != nil && stored.ExpiresAt.Equal(expiresAt) {
			w.deleteExpired(orderBucket(kind), orderKey(service, address))
			w.delete(bucketBegun, begunKey(kind, service, address))
		}
	}, with...)
}

// BeginOrder records that the audit log contains the start of an admin state, and appends the entries. It does not
// change the admin state itself, which is equal on all nodes.
func (s *Store) BeginOrder(kind api.OrderKind, service, address string, startsAt time.Time, with ...Entry) error {
	value, err := json.Marshal(startsAt)
	if err != nil {
		return fmt.Errorf("encoding the beginning of the %s of %s: %w", kind, service, err)
	}
	return s.updateAndCopySoon(func(w *writer) {
		stored, found := w.order(kind, service, address)
		if found && stored.StartsAt != nil && stored.StartsAt.Equal(startsAt) {
			w.putRecord(bucketBegun, begunKey(kind, service, address), value)
		}
	}, with...)
}

// ended returns the end of the admin state or DNS record in an object. It returns zero without an end, and for other
// objects.
func ended(o *replica.Object) (at time.Time) {
	var timed struct {
		ExpiresAt *time.Time `json:"expires_at"`
	}
	switch o.Kind {
	case KindOverride, KindWeight, KindDrain, KindRecord:
	default:
		return at
	}
	if o.Deleted || json.Unmarshal(o.Value, &timed) != nil || timed.ExpiresAt == nil {
		return at
	}
	return *timed.ExpiresAt
}

func (w *writer) dropOrder(kind api.OrderKind, service, address string) {
	w.delete(orderBucket(kind), orderKey(service, address))
	w.delete(bucketBegun, begunKey(kind, service, address))
}

// dropBegun deletes the record that the admin state in an object has started on this node. The object may be of another
// kind.
func (w *writer) dropBegun(k replica.Key) {
	service, address := OrderOf(k)
	w.delete(bucketBegun, begunKey(api.OrderKind(k.Kind), service, address))
}

// order returns a stored order.
func (w *writer) order(kind api.OrderKind, service, address string) (o Order, found bool) {
	bucket, key := orderBucket(kind), orderKey(service, address)
	b := w.open(bucket)
	if w.err != nil {
		return o, false
	}
	record := b.Get(key)
	if record == nil {
		return o, false
	}
	value, _, err := unseal(bucket, key, record)
	if err == nil {
		err = json.Unmarshal(value, &o)
	}
	w.err = err
	return o, err == nil
}

func orderKey(service, address string) []byte { return []byte(service + "\x00" + address) }

func begunKey(kind api.OrderKind, service, address string) []byte {
	return append([]byte(string(kind)+"\x00"), orderKey(service, address)...)
}
