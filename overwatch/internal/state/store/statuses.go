package store

import (
	"encoding/json"
	"fmt"
	"slices"
)

// statusBatch bounds the statuses of one transaction, so that a pin does not wait long behind them.
const statusBatch = 5000

// LoadStatuses returns the stored statuses, ordered by service and address.
func (s *Store) LoadStatuses() (statuses []Status, err error) {
	err = s.readSound(bucketStatuses, func(key, value []byte) error {
		status, err := decodeStatus(key, value)
		if err != nil {
			return fmt.Errorf("status %q: %w", key, err)
		}
		statuses = append(statuses, status)
		return nil
	})
	return statuses, err
}

// SaveStatuses stores each status and replaces the one of its backend; it deletes those that are Gone. It is meant
// for batches, not for every check. Beyond statusBatch it takes several transactions; after an error some of them are
// stored, which does no harm.
func (s *Store) SaveStatuses(statuses []Status) error {
	for batch := range slices.Chunk(statuses, statusBatch) {
		keys, values := make([][]byte, len(batch)), make([][]byte, len(batch))
		for i, status := range batch {
			keys[i] = endpointKey(status.Service, status.Address, status.Port)
			if status.Gone {
				continue
			}
			value, err := json.Marshal(status)
			if err != nil {
				return fmt.Errorf("status of %s: %w", status.Service, err)
			}
			values[i] = value
		}
		if err := s.update(func(w *writer) {
			for i, key := range keys {
				if values[i] == nil {
					w.delete(bucketStatuses, key)
				} else {
					w.put(bucketStatuses, key, values[i])
				}
			}
		}); err != nil {
			return err
		}
	}
	mark(s.statuses)
	return nil
}

func decodeStatus(key, value []byte) (s Status, err error) {
	if err := json.Unmarshal(value, &s); err != nil {
		return Status{}, err
	}
	s.Service, s.Address, s.Port, err = decodeEndpoint(key)
	return s, err
}
