package store

import (
	"encoding/json"
	"fmt"
	"slices"
)

// statusBatch is how many statuses go into one transaction: few enough that a pin does not wait long behind them.
const statusBatch = 5000

// LoadStatuses returns the statuses saved last, ordered by service and address.
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

// SaveStatuses stores each status in the place of the one of the same backend, and deletes those that are Gone. It is meant for
// batches, not for every check. Beyond statusBatch it takes several transactions; an error in between leaves some of them saved,
// which does no harm: each stands for itself.
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
	mark(s.told)
	return nil
}

func decodeStatus(key, value []byte) (s Status, err error) {
	if err := json.Unmarshal(value, &s); err != nil {
		return Status{}, err
	}
	s.Service, s.Address, s.Port, err = decodeEndpoint(key)
	return s, err
}
