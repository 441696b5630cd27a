package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"gslb.internal/overwatch/internal/state/replica"
)

// LoadPins returns all pins, sorted by agent id. If a pin cannot be decoded, it returns an error with the pin and the
// remedy, because another certificate could use the id of an agent without a pin.
func (s *Store) LoadPins() (pins []Pin, err error) {
	err = s.read(bucketPins, func(key, value []byte) error {
		var p Pin
		if err := json.Unmarshal(value, &p); err != nil {
			return fmt.Errorf(
				"the pin of agent %q cannot be decoded: %w; start the version that stored it, delete the pin there "+
					"(gslbctl agents unpin %s), then start this one", key, err, key)
		}
		pins = append(pins, p)
		return nil
	})
	return pins, err
}

// PutPin stores a pin and replaces the pin of the same agent.
func (s *Store) PutPin(p Pin, with ...Entry) error {
	return s.ChangePins(PinChange{Put: []Pin{p}}, with...)
}

// DeletePin deletes an agent's pin, if it exists.
func (s *Store) DeletePin(agentID string, with ...Entry) error {
	return s.ChangePins(PinChange{Drop: []string{agentID}}, with...)
}

// ChangePins stores a change of pins and locks atomically.
func (s *Store) ChangePins(c PinChange, with ...Entry) error {
	var b Batch
	for _, p := range c.Put {
		b.putPin(p)
	}
	for _, l := range c.Lock {
		b.putLock(l)
	}
	for _, id := range c.Drop {
		b.withdraw(bucketPins, id, replica.Key{Kind: KindRevocation, Name: id}, c.Alone)
	}
	for _, service := range c.Unlock {
		b.withdraw(bucketMeta, lockKey(service), replica.Key{Kind: KindLock, Name: service}, c.Alone)
	}
	return s.Write(&b, with...)
}

// lockPrefix is the prefix of the keys of locks in bucketMeta. Programs of earlier versions ignore them.
const lockPrefix = "token lock "

func lockKey(service string) string { return lockPrefix + service }

// LoadLocks returns the locked services.
func (s *Store) LoadLocks() (locks []TokenLock, err error) {
	err = s.read(bucketMeta, func(key, value []byte) error {
		if !strings.HasPrefix(string(key), lockPrefix) {
			return nil
		}
		var l TokenLock
		if err := json.Unmarshal(value, &l); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		locks = append(locks, l)
		return nil
	})
	return locks, err
}

// updateAndCopySoon is like update, with audit entries, and triggers an early update of the database copy.
func (s *Store) updateAndCopySoon(apply func(*writer), with ...Entry) error {
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
