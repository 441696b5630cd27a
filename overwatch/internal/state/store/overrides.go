package store

import (
	"encoding/json"
	"fmt"
)

// LoadOverrides returns all overrides, expired ones too, ordered by service and address.
func (s *Store) LoadOverrides() (overrides []Override, err error) {
	err = s.readSound(bucketOverrides, func(key, value []byte) error {
		var o Override
		if err := json.Unmarshal(value, &o); err != nil {
			return fmt.Errorf("override %q: %w", key, err)
		}
		overrides = append(overrides, o)
		return nil
	})
	return overrides, err
}

// PutOverride stores an override and replaces the one of its service and address.
func (s *Store) PutOverride(o Override, with ...Entry) error {
	value, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding the override of %s %s: %w", o.Service, o.Address, err)
	}
	return s.keep(func(w *writer) { w.put(bucketOverrides, overrideKey(o.Service, o.Address), value) }, with...)
}

// DeleteOverride deletes an override. A missing one is no error.
func (s *Store) DeleteOverride(service, address string, with ...Entry) error {
	return s.keep(func(w *writer) { w.delete(bucketOverrides, overrideKey(service, address)) }, with...)
}

func overrideKey(service, address string) []byte { return []byte(service + "\x00" + address) }
