package replica

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// Options configures a Table.
type Options struct {
	NodeID    string
	Retention time.Duration    // lifetime of tombstones; the same on all nodes
	Now       func() time.Time // optional; default: time.Now
	// Objects are the node's stored objects. Synced is the last time at which it had all objects of another node, or zero.
	Objects []Object
	Synced  time.Time
	Marks   *Marks // as stored; nil if a program without marks has stored the objects
}

// Table holds the objects of a node. It is not safe for concurrent use.
type Table struct {
	clock     clock
	retention time.Duration
	synced    time.Time
	objects   map[Key]*entry
	deleted   int // of objects
	digest    Digest
	changes   uint64 // number of the last change
	marks     Marks
	served    Version // exact value for Marks.Stored in this process
}

// entry is an object with the number of its last change on this node.
type entry struct {
	Object
	change uint64
}

// New returns the Table of a node. Its clock is not settled yet.
func New(o Options) (*Table, error) {
	if o.NodeID == "" || o.Retention <= 4*MaxAhead {
		return nil, errors.New("replica: Options.NodeID is needed, and a Retention of more than 20m")
	}
	t := &Table{clock: clock{node: o.NodeID, now: o.Now, steady: time.Now()}, retention: o.Retention, synced: o.Synced,
		objects: make(map[Key]*entry, len(o.Objects))}
	if t.clock.now == nil {
		t.clock.now = time.Now
	}
	t.clock.detectStep()
	if o.Marks != nil {
		t.marks = *o.Marks
	} else {
		t.marks = marksOf(o.Objects, o.NodeID)
	}
	t.served = t.marks.Stored
	t.clock.advancePast(later(t.floor(), t.marks.Clock))
	for i := range o.Objects {
		t.clock.advancePast(o.Objects[i].Version)
		t.put(o.Objects[i])
	}
	return t, nil
}

// Continue continues the change numbers and the state of the clock of a previous table, so that a number that another
// node has received never identifies another change. Objects that differ from the previous table have changed now.
func (t *Table) Continue(before *Table) {
	t.changes = before.changes
	t.clock.watch, t.clock.agreed, t.clock.steady, t.clock.peers = before.clock.watch, before.clock.agreed,
		before.clock.steady, before.clock.peers
	if before.served.Compare(t.marks.Stored) < 0 {
		t.served = before.served
	}
	for key, e := range t.objects {
		if was := before.objects[key]; was != nil && was.Version == e.Version {
			e.change = was.change
		} else {
			t.changes++
			e.change = t.changes
		}
	}
}

// Put stores a new value of an object, with a version after all versions that this node has received.
func (t *Table) Put(key Key, value json.RawMessage) Object {
	return t.put(Object{Key: key, Version: t.next(), Value: value})
}

// Delete replaces an object by a tombstone.
func (t *Table) Delete(key Key) Object {
	return t.put(Object{Key: key, Version: t.next(), Deleted: true})
}

// next returns the version of a new change. While the clock agrees with the clock of a peer, no version is lowered
// later, and the mark is set before the first answer with the version.
func (t *Table) next() Version {
	t.clock.detectStep()
	v := t.clock.next()
	switch behind := v.At().Sub(t.clock.now()) > MaxAhead; {
	case t.clock.agreed:
		t.MarkStored(v)
	case behind && t.marks.Behind == (Version{}):
		t.marks.Behind = v
	}
	return v
}

// Get returns an object, which may be a tombstone.
func (t *Table) Get(key Key) (Object, bool) {
	if e := t.objects[key]; e != nil {
		return e.Object, true
	}
	return Object{}, false
}

// Digest returns the sum over all objects.
func (t *Table) Digest() Digest { return t.digest }

// Changes returns the number of the last change, for a later Page.
func (t *Table) Changes() uint64 { return t.changes }

// All returns the objects and tombstones in the order of their keys.
func (t *Table) All() []Object {
	objects := make([]Object, 0, len(t.objects))
	for _, e := range t.objects {
		objects = append(objects, e.Object)
	}
	slices.SortFunc(objects, func(a, b Object) int { return a.Key.compare(b.Key) })
	return objects
}

// CountSince returns the number of objects that have changed after the given change number.
func (t *Table) CountSince(change uint64) (n int) {
	for _, e := range t.objects {
		if e.change > change {
			n++
		}
	}
	return n
}

// Count returns the number of objects with a value, and the number of tombstones.
func (t *Table) Count() (objects, tombstones int) {
	return len(t.objects) - t.deleted, t.deleted
}

// Collect deletes tombstones with a version older than the retention, and returns their keys, nil if there are none. It
// also deletes objects of the same age for which over returns true, because they have expired on every node. Collect
// requires a clock that agrees with the clock of a peer, or a node without peers, and deletes no object while the node
// is joining.
func (t *Table) Collect(over func(*Object) bool) []Key {
	if !t.clock.isTrusted() || t.clock.peers != NoPeers && t.Joining() {
		return nil
	}
	var gone []Key
	for key, e := range t.objects {
		if t.old(e.Version) && (e.Deleted || over != nil && over(&e.Object)) {
			gone = append(gone, key)
		}
	}
	for _, key := range gone {
		t.drop(key)
	}
	slices.SortFunc(gone, Key.compare)
	return gone
}

// Mend lowers the versions of this node's objects that exceed Limit by more than MaxAhead and that no other node has
// stored. It sets them to the current time. The clock was wrong at the change, and other nodes reject these objects.
// The new versions are later than all versions that other nodes may have. Mend returns the objects in their order, with
// their new versions. Before the clock has settled, Mend lowers no version. Mend also records the time: call it every
// minute.
func (t *Table) Mend() []Object {
	limit := laterTime(t.Limit().Add(MaxAhead), t.floor().At())
	if !t.isSettled() || !t.clock.last.At().After(limit) {
		t.readClock()
		return nil
	}
	defer t.readClock()
	var wrong []Object
	t.clock.last = t.floor()
	for _, e := range t.objects {
		if e.Version.At().After(limit) && t.isUnmarked(e.Version) {
			wrong = append(wrong, e.Object)
		} else {
			t.clock.advancePast(e.Version)
		}
	}
	slices.SortFunc(wrong, func(a, b Object) int {
		return cmp.Or(a.Version.Compare(b.Version), a.Key.compare(b.Key))
	})
	for i := range wrong {
		wrong[i].Version = t.next()
		t.put(wrong[i])
	}
	return wrong
}

// old reports whether a version is older than the retention. While the clock may be wrong, the version must also
// precede the last meeting by the retention.
func (t *Table) old(v Version) bool {
	now := t.clock.now()
	if !t.clock.isTrusted() {
		now = laterTime(now, t.synced)
	}
	return now.Sub(v.At()) > t.retention
}

func (t *Table) put(o Object) Object {
	t.drop(o.Key)
	t.changes++
	t.objects[o.Key] = &entry{o, t.changes}
	if o.Deleted {
		t.deleted++
	}
	t.digest.toggle(&o)
	return o
}

func (t *Table) drop(key Key) {
	if before := t.objects[key]; before != nil {
		t.digest.toggle(&before.Object)
		delete(t.objects, key)
		if before.Deleted {
			t.deleted--
		}
	}
}
