package store

import (
	"encoding/json"
	"time"
)

// LoadOverrides returns all overrides, expired ones too, ordered by service and address.
func (s *Store) LoadOverrides() ([]Override, error) { return load[Override](s, bucketOverrides) }

// PutOverride stores an override and replaces the one of its service and address.
func (s *Store) PutOverride(o Override, with ...Entry) error {
	var b Batch
	b.put(bucketOverrides, string(overrideKey(o.Service, o.Address)), o)
	return s.Write(&b, with...)
}

// DeleteOverride deletes an override. A missing one is no error.
func (s *Store) DeleteOverride(service, address string, with ...Entry) error {
	return s.keep(func(w *writer) { w.delete(bucketOverrides, overrideKey(service, address)) }, with...)
}

// ExpireOverride deletes an override unless another one, with another end, has replaced it, and appends the entries.
func (s *Store) ExpireOverride(service, address string, expiresAt time.Time, with ...Entry) error {
	return s.keep(func(w *writer) {
		key := overrideKey(service, address)
		if stored, found := w.override(key); found && stored.ExpiresAt != nil && stored.ExpiresAt.Equal(expiresAt) {
			w.delete(bucketOverrides, key)
		}
	}, with...)
}

// override returns a stored override.
func (w *writer) override(key []byte) (o Override, found bool) {
	b := w.open(bucketOverrides)
	if w.err != nil {
		return o, false
	}
	record := b.Get(key)
	if record == nil {
		return o, false
	}
	value, _, err := unseal(bucketOverrides, key, record)
	if err == nil {
		err = json.Unmarshal(value, &o)
	}
	w.err = err
	return o, err == nil
}

func overrideKey(service, address string) []byte { return []byte(service + "\x00" + address) }
