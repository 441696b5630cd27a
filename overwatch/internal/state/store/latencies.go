package store

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Latency is the smoothed latency of the node's checks of a backend.
type Latency struct {
	Service string     `json:"-"`
	Address netip.Addr `json:"-"`
	Port    uint16     `json:"-"`

	Smoothed time.Duration `json:"smoothed"` // moving average
	Samples  int           `json:"samples"`
	Held     []string      `json:"held,omitempty"` // groups of clients for which the backend is among the fastest
}

// LoadLatencies returns the stored latencies, ordered by service and address.
func (s *Store) LoadLatencies() (latencies []Latency, err error) {
	err = s.readSound(bucketLatencies, func(key, value []byte) error {
		var l Latency
		if err := json.Unmarshal(value, &l); err != nil {
			return fmt.Errorf("latency %q: %w", key, err)
		}
		var err error
		if l.Service, l.Address, l.Port, err = decodeEndpoint(key); err != nil {
			return fmt.Errorf("latency %q: %w", key, err)
		}
		latencies = append(latencies, l)
		return nil
	})
	return latencies, err
}

// SaveLatencies replaces all stored latencies. For more than statusBatch latencies, it uses several transactions. After
// an error, some of the latencies may be stored, which is harmless.
func (s *Store) SaveLatencies(latencies []Latency) error {
	kept := make(map[string]bool, len(latencies))
	for batch := range slices.Chunk(latencies, statusBatch) {
		values := make([][]byte, len(batch))
		for i, l := range batch {
			var err error
			if values[i], err = json.Marshal(l); err != nil {
				return fmt.Errorf("latency of %s: %w", l.Service, err)
			}
			kept[string(endpointKey(l.Service, l.Address, l.Port))] = true
		}
		if err := s.update(func(w *writer) {
			for i, l := range batch {
				w.putRecord(bucketLatencies, endpointKey(l.Service, l.Address, l.Port), values[i])
			}
		}); err != nil {
			return err
		}
	}
	return s.update(func(w *writer) { w.keepOnly(bucketLatencies, kept) })
}

// keepOnly deletes all records of a bucket except the keys in kept.
func (w *writer) keepOnly(bucket string, kept map[string]bool) {
	b := w.open(bucket)
	if w.err != nil {
		return
	}
	var gone [][]byte
	_ = b.ForEach(func(key, _ []byte) error {
		if !kept[string(key)] {
			gone = append(gone, slices.Clone(key))
		}
		return nil
	})
	for _, key := range gone {
		w.delete(bucket, key)
	}
}
