package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gslb.internal/overwatch/internal/state/replica"
)

var (
	// errUnknownKind means that only a later version of gslb knows the kind of an object.
	errUnknownKind = errors.New("this version of gslb does not know it: run the same version on all nodes")
	// errUnreadable means that the value of an object does not match its kind and name.
	errUnreadable = errors.New("its value cannot be read: run the same version on all nodes")
)

// heldObject is an object that the store contains for other nodes, and that has no effect on this node.
type heldObject struct {
	version replica.Version
	size    int
	reason  error
}

// Held lists the stored objects of other nodes without effect on this node, sorted by key. The record of such an object
// contains the last value that this node accepted, if any.
func (s *Store) Held() []replica.Rejection {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	s.pruneHeld()
	list := make([]replica.Rejection, 0, len(s.held))
	for key, h := range s.held {
		o, _ := s.table.Get(key)
		list = append(list, replica.Rejection{Object: o, Reason: h.reason, Stored: true})
	}
	slices.SortFunc(list, func(a, b replica.Rejection) int {
		return cmp.Or(cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Name, b.Object.Name))
	})
	return list
}

// HeldReason returns the reason why an object has no effect on this node, or nil.
func (s *Store) HeldReason(key replica.Key) error {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	if h, held := s.held[key]; held {
		if o, _ := s.table.Get(key); o.Version == h.version {
			return h.reason
		}
	}
	return nil
}

// pruneHeld removes the held objects that later versions have replaced. The caller holds commitMu.
func (s *Store) pruneHeld() {
	for key, h := range s.held {
		if o, there := s.table.Get(key); !there || o.Version != h.version {
			delete(s.held, key)
		}
	}
}

// admit returns the reason why an object must have no effect on this node, or nil.
func (s *Store) admit(o *replica.Object) error {
	switch {
	case findKind(o.Kind) == nil:
		return errUnknownKind
	case o.Deleted:
		return nil
	case !Readable(o):
		return errUnreadable
	case s.o.CheckObject != nil:
		return s.o.CheckObject(o)
	}
	return nil
}

// screening sorts the objects of other nodes' offers. Its fields count the objects of the table and the objects that
// the offers add.
type screening struct {
	s                   *Store
	objects, tombstones int
	held                map[replica.Key]int // sizes of the objects without effect
	heldSize            int                 // total size in bytes
	rejected            []replica.Rejection
}

// screen starts a screening. The caller holds commitMu.
func (s *Store) screen() *screening {
	s.pruneHeld()
	c := &screening{s: s, held: make(map[replica.Key]int, len(s.held))}
	for key, h := range s.held {
		c.held[key] = h.size
		c.heldSize += h.size
	}
	c.objects, c.tombstones = s.table.Count()
	return c
}

// offer removes the objects that this node must not store, and returns the remaining offer. If it removes an object,
// and this node drops objects that an offer lacks, it marks the result as incomplete.
func (c *screening) offer(o replica.Offer) replica.Offer {
	sound := make([]replica.Object, 0, len(o.Objects))
	for i := range o.Objects {
		if c.stores(&o.Objects[i]) {
			sound = append(sound, o.Objects[i])
		}
	}
	if len(sound) < len(o.Objects) && c.s.table.Joining() {
		o.Whole = false
	}
	o.Objects = sound
	return o
}

// stores reports whether this node stores an object. It records an object without effect.
func (c *screening) stores(o *replica.Object) bool {
	if err := o.Check(); err != nil {
		c.rejected = append(c.rejected, replica.Rejection{Object: *o, Reason: err})
		return false
	}
	here, there := c.s.table.Get(o.Key)
	if there && (o.Version.Compare(here.Version) < 0 || o.Version == here.Version && bytes.Equal(o.Value, here.Value)) {
		return true // the object changes no state
	}
	reason := c.s.admit(o)
	if full := c.full(o, !there, there && here.Deleted, reason != nil); full != nil {
		c.rejected = append(c.rejected, replica.Rejection{Object: *o, Reason: full})
		return false
	}
	if reason != nil {
		c.rejected = append(c.rejected, replica.Rejection{Object: *o, Reason: reason, Stored: true})
	}
	return true
}

// full returns an error if an object would exceed a bound, and otherwise counts the object. added: the table lacks the
// object. restored: the table contains a deletion of the object. rejected: the object has no effect. A deletion of an
// object in the table is always stored.
func (c *screening) full(o *replica.Object, added, restored, rejected bool) error {
	before, wasHeld := c.held[o.Key]
	number, size := len(c.held), c.heldSize-before
	if wasHeld {
		number--
	}
	switch {
	case rejected && (number >= replica.MaxHeld || size+len(o.Value) > replica.MaxHeldSize):
		return fmt.Errorf("this node has stored %d objects without effect, of at most %d and %d octets: delete them on "+
			"the node that has made them", len(c.held), replica.MaxHeld, replica.MaxHeldSize)
	case added && o.Deleted && c.tombstones >= replica.MaxTombstones:
		return fmt.Errorf("this node remembers %d deletions, which is the most: shorten "+
			"overwatch.replication.tombstone_retention on all nodes", c.tombstones)
	case (added || restored) && !o.Deleted && c.objects >= replica.MaxObjects:
		return fmt.Errorf("this node has %d objects, which is the most", c.objects)
	case added && c.objects+c.tombstones >= replica.MaxObjects+replica.MaxTombstones:
		return fmt.Errorf("this node has %d objects and remembers %d deletions, which is the most: shorten "+
			"overwatch.replication.tombstone_retention on all nodes", c.objects, c.tombstones)
	}
	if delete(c.held, o.Key); rejected {
		c.held[o.Key] = len(o.Value)
		size += len(o.Value)
	}
	c.heldSize = size
	switch {
	case added && o.Deleted:
		c.tombstones++
	case added:
		c.objects++
	case restored && !o.Deleted:
		c.objects, c.tombstones = c.objects+1, c.tombstones-1
	}
	return nil
}

// storeRejected adds the rejected objects to m.Rejected, and stores the rejected objects that are in the table.
func (c *screening) storeRejected(w *writer, m *replica.Merged) {
	held := make(map[replica.Key][]replica.Rejection)
	for _, r := range c.rejected {
		if r.Stored {
			held[r.Object.Key] = append(held[r.Object.Key], r)
		} else {
			m.Rejected = append(m.Rejected, r)
		}
	}
	for i := range m.Taken {
		o := &m.Taken[i]
		at := slices.IndexFunc(held[o.Key], func(r replica.Rejection) bool {
			return r.Object.Version == o.Version && bytes.Equal(r.Object.Value, o.Value)
		})
		if at < 0 {
			delete(c.s.held, o.Key)
			w.putObject(o)
			continue
		}
		r := held[o.Key][at]
		m.Rejected = append(m.Rejected, r)
		w.putVersion(o)
		c.s.held[o.Key] = heldObject{o.Version, len(o.Value), r.Reason}
	}
}

// readmit records the objects without effect. It returns the objects whose records are restored: this version of gslb
// accepts them, or this node has ended them while its clock was ahead.
func (s *Store) readmit(records map[replica.Key]json.RawMessage) (admitted []replica.Object) {
	for _, o := range s.table.All() {
		if o.Deleted && findKind(o.Kind) != nil || bytes.Equal(records[o.Key], o.Value) {
			continue
		}
		if at := ended(&o); !at.IsZero() && !at.After(s.now()) {
			continue
		}
		if reason := s.admit(&o); reason != nil {
			s.held[o.Key] = heldObject{o.Version, len(o.Value), reason}
		} else if bucket, _, _ := recordKeyOf(&o); bucket != "" {
			admitted = append(admitted, o)
		}
	}
	return admitted
}
