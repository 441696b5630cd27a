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
	Retention time.Duration    // for which tombstones are kept; the same on all nodes
	Now       func() time.Time // nil means time.Now
	// Objects are the node's stored objects. Synced is the time when it last had all objects of another node; zero: never.
	Objects []Object
	Synced  time.Time
}

// Table holds the objects of one node. Only one goroutine may use it at a time.
type Table struct {
	clock     clock
	retention time.Duration
	synced    time.Time
	objects   map[Key]*entry
	deleted   int // of objects
	digest    Digest
	changes   uint64   // number of the last change
	expired   []Object // tombstones that New left out
}

// entry is an object with the number of its last change here.
type entry struct {
	Object
	change uint64
}

// New makes the Table of a node. It leaves out tombstones that are older than the retention, until Collect.
func New(o Options) (*Table, error) {
	if o.NodeID == "" || o.Retention <= 4*MaxAhead {
		return nil, errors.New("replica: Options.NodeID is needed, and a Retention of more than 20m")
	}
	t := &Table{clock: clock{node: o.NodeID, now: o.Now}, retention: o.Retention, synced: o.Synced,
		objects: make(map[Key]*entry, len(o.Objects))}
	if t.clock.now == nil {
		t.clock.now = time.Now
	}
	for i := range o.Objects {
		object := o.Objects[i]
		if !t.clock.ahead(object.Version) { // else Mend deals with it
			t.clock.see(object.Version)
		}
		if object.Deleted && t.old(object.Version) {
			t.expired = append(t.expired, object)
		} else {
			t.put(object)
		}
	}
	return t, nil
}

// Continue numbers the changes on from those of a table that this one takes the place of, so that a number which
// another node was told never stands for another change: what is not the same there counts as changed now.
func (t *Table) Continue(before *Table) {
	t.changes = before.changes
	for key, e := range t.objects {
		if was := before.objects[key]; was != nil && was.Version == e.Version {
			e.change = was.change
		} else {
			t.changes++
			e.change = t.changes
		}
	}
}

// Put stores a new value of an object, with a version after all that this node has seen.
func (t *Table) Put(key Key, value json.RawMessage) Object {
	return t.put(Object{Key: key, Version: t.clock.next(), Value: value})
}

// Delete leaves a tombstone of an object.
func (t *Table) Delete(key Key) Object {
	return t.put(Object{Key: key, Version: t.clock.next(), Deleted: true})
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

// All returns the objects, tombstones too, in the order of their keys.
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

// Count returns how many objects have a value, and how many are tombstones.
func (t *Table) Count() (objects, tombstones int) {
	return len(t.objects) - t.deleted, t.deleted
}

// Adopt adds an object that a program without versions has stored; its version lies in the past. The table must not
// have the object yet.
func (t *Table) Adopt(o Object) {
	if !t.clock.ahead(o.Version) {
		t.clock.see(o.Version)
	}
	t.put(o)
}

// Collect forgets tombstones that are older than the retention, by their version's own time, and returns their keys. So
// it does with objects of that age that over reports to have ended by themselves, on every node; nil: there are none.
// What New has left out is among the keys, unless the clock was wrong then: such a tombstone is remembered again.
func (t *Table) Collect(over func(*Object) bool) []Key {
	for _, o := range t.expired {
		if t.objects[o.Key] == nil {
			t.put(o)
		}
	}
	t.expired = nil
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

// Mend gives the present time to objects whose versions lie ahead of the node's clock by more than MaxAhead: it was
// wrong when they were made, and other nodes refuse them. It returns them in their order, with their new versions.
func (t *Table) Mend() []Object {
	var wrong []Object
	for _, e := range t.objects {
		if t.clock.ahead(e.Version) {
			wrong = append(wrong, e.Object)
		}
	}
	if t.clock.ahead(t.clock.last) {
		t.clock.last = Version{}
		for _, e := range t.objects {
			if !t.clock.ahead(e.Version) {
				t.clock.see(e.Version)
			}
		}
	}
	slices.SortFunc(wrong, func(a, b Object) int {
		return cmp.Or(a.Version.Compare(b.Version), a.Key.compare(b.Key))
	})
	for i := range wrong {
		wrong[i].Version = t.clock.next()
		t.put(wrong[i])
	}
	return wrong
}

// old reports whether a version is older than the retention.
func (t *Table) old(v Version) bool { return t.clock.now().Sub(v.At()) > t.retention }

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
