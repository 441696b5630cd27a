package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"gslb.internal/overwatch/internal/state/replica"
)

// Refused reports whether an operator has revoked the agent's certificate, permanently or until another certificate
// enrolls.
func (p *Pin) Refused() bool { return p.Revoked || p.Superseded != [32]byte{} }

// keepsOut reports whether this rejected pin has precedence over another pin of the agent.
func (p *Pin) keepsOut(other *Pin) bool {
	return p.Revoked || p.Superseded != [32]byte{} && p.Superseded == sha256.Sum256(other.CertificateDER)
}

// LoadPin returns the pin of an agent.
func (s *Store) LoadPin(agentID string) (p Pin, found bool, err error) {
	value, err := s.readRecord(bucketPins, []byte(agentID))
	if err != nil || value == nil {
		return p, false, err
	}
	if err := json.Unmarshal(value, &p); err != nil {
		return p, false, fmt.Errorf("reading the pin of %s from %s: %w", agentID, s.path, err)
	}
	return p, true, nil
}

// putPin stores a pin. A rejected pin is replicated to all nodes. Other pins do not replace a revocation of another
// node that has arrived in the meantime.
func (b *Batch) putPin(p Pin) {
	value, err := json.Marshal(p)
	p.Unreported = false // local to this node
	decision, err2 := json.Marshal(p)
	if err != nil || err2 != nil {
		b.err = fmt.Errorf("encoding the pin of %q: %w", p.AgentID, errors.Join(err, err2))
		return
	}
	b.changes = append(b.changes, func(w *writer) {
		key := replica.Key{Kind: KindRevocation, Name: p.AgentID}
		if p.Refused() {
			w.decide(key, decision)
		} else if before, ok := w.revocation(key); ok && before.keepsOut(&p) {
			return
		}
		w.putRecord(bucketPins, []byte(p.AgentID), value)
	})
}

// putLock stores a lock, which is replicated to all nodes.
func (b *Batch) putLock(l TokenLock) {
	value, err := json.Marshal(l)
	if err != nil {
		b.err = fmt.Errorf("encoding the lock of %q: %w", l.Service, err)
		return
	}
	b.changes = append(b.changes, func(w *writer) {
		w.decide(replica.Key{Kind: KindLock, Name: l.Service}, value)
		w.putRecord(bucketMeta, []byte(lockKey(l.Service)), value)
	})
}

// withdraw deletes the record of a pin or a lock. Unless alone is set, it replicates the deletion to all nodes, even if
// this node has no object to delete, because another node may have a pin for the agent.
func (b *Batch) withdraw(bucket, record string, key replica.Key, alone bool) {
	b.delete(bucket, record)
	if alone {
		return
	}
	b.changes = append(b.changes, func(w *writer) {
		if w.table != nil && w.err == nil {
			o := w.table.Delete(key)
			w.putVersion(&o)
		}
	})
}

// revocation returns the replicated revocation of an agent. ok is false if the agent is not revoked.
func (w *writer) revocation(key replica.Key) (p Pin, ok bool) {
	if w.table == nil {
		return p, false
	}
	o, there := w.table.Get(key)
	return p, there && !o.Deleted && json.Unmarshal(o.Value, &p) == nil && p.Refused()
}

// decide stores a replicated object, unless the object already has the value.
func (w *writer) decide(key replica.Key, value json.RawMessage) {
	if w.table == nil || w.err != nil {
		return
	}
	if o, there := w.table.Get(key); there && !o.Deleted && bytes.Equal(o.Value, value) {
		return
	}
	o := w.table.Put(key, value)
	w.putVersion(&o)
}

// followTrust updates the records of pins and locks from an object of another node.
func (w *writer) followTrust(o *replica.Object) {
	follow := map[string]func(*replica.Object){KindLock: w.followLock, KindRevocation: w.followRevocation}[o.Kind]
	if follow != nil && Readable(o) {
		follow(o)
	}
}

// followLock stores or deletes the lock of a service.
func (w *writer) followLock(o *replica.Object) {
	if o.Deleted {
		w.delete(bucketMeta, []byte(lockKey(o.Name)))
	} else {
		w.putRecord(bucketMeta, []byte(lockKey(o.Name)), o.Value)
	}
}

// followRevocation stores the revocation of an agent, or deletes its pin. A deletion does not affect a later pin. The
// clocks of nodes may differ by replica.MaxAhead.
func (w *writer) followRevocation(o *replica.Object) {
	key := []byte(o.Name)
	var before, decision Pin
	found := false
	if b := w.open(bucketPins); w.err == nil {
		value, _, err := unseal(bucketPins, key, b.Get(key))
		found = err == nil && json.Unmarshal(value, &before) == nil
	}
	if !o.Deleted {
		if err := json.Unmarshal(o.Value, &decision); err == nil &&
			(!found || before.Refused() || decision.keepsOut(&before)) {
			w.putRecord(bucketPins, key, o.Value)
		}
		return
	}
	if found && (before.Refused() || before.FirstSeen.Before(o.Version.At().Add(replica.MaxAhead))) {
		w.delete(bucketPins, key)
	}
}

// refusals adds the rejected pins and the locks to the values of objects.
func (s *Store) refusals(values map[replica.Key]json.RawMessage) error {
	err := s.read(bucketPins, func(key, value []byte) error {
		var p Pin
		if !bytes.Contains(value, []byte(`"revoked":true`)) && !bytes.Contains(value, []byte(`"superseded":`)) ||
			json.Unmarshal(value, &p) != nil || !p.Refused() {
			return nil //nolint:nilerr // LoadPins reports an unreadable pin
		}
		p.Unreported = false
		decision, err := json.Marshal(p)
		values[replica.Key{Kind: KindRevocation, Name: string(key)}] = decision
		return err
	})
	if err != nil {
		return err
	}
	locks, err := s.LoadLocks()
	for _, l := range locks {
		if err == nil {
			values[replica.Key{Kind: KindLock, Name: l.Service}], err = json.Marshal(l)
		}
	}
	return err
}
