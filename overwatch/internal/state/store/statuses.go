package store

import (
	"encoding/json"
	"fmt"
	"slices"
)

// statusBatch is the maximum number of statuses per transaction, so that other writes such as pins do not wait long.
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

// SaveStatuses stores the statuses of backends, and deletes the statuses with Gone set. Call it for batches, not after
// every check. For more than statusBatch statuses, it uses several transactions. After an error, some of the statuses
// may be stored, which is harmless.
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
					w.putRecord(bucketStatuses, key, values[i])
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
