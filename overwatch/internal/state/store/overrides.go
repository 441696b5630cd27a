package store

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

func overrideKey(service, address string) []byte { return []byte(service + "\x00" + address) }
