package store

import (
	"encoding/json"
	"fmt"
)

// LoadPins returns all pins, ordered by agent id.
func (s *Store) LoadPins() (pins []Pin, err error) {
	err = s.read(bucketPins, func(key, value []byte) error {
		var p Pin
		if err := json.Unmarshal(value, &p); err != nil {
			return fmt.Errorf("pin %q: %w", key, err)
		}
		pins = append(pins, p)
		return nil
	})
	return pins, err
}

// PutPin stores a pin in place of the one that its agent has, if any.
func (s *Store) PutPin(p Pin, with ...Entry) error {
	value, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encoding the pin of %s: %w", p.AgentID, err)
	}
	return s.keep(func(w *writer) { w.put(bucketPins, []byte(p.AgentID), value) }, with...)
}

// DeletePin deletes an agent's pin. That there is none is no error.
func (s *Store) DeletePin(agentID string, with ...Entry) error {
	return s.keep(func(w *writer) { w.delete(bucketPins, []byte(agentID)) }, with...)
}

// keep is update for what the copy must have soon, with the audit entries that go with it.
func (s *Store) keep(apply func(*writer), with ...Entry) error {
	err := s.update(func(w *writer) {
		apply(w)
		w.append(with)
	})
	if err != nil {
		return err
	}
	mark(s.changed)
	return nil
}
