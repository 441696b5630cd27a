package replica

import "time"

// collectMargin is the maximum time between the deletions of the same tombstone on two nodes.
const collectMargin = 2*MaxAhead + 2*time.Minute

// Differences returns the number of objects that differ between the table and all objects of another node, and the
// first such object. It ignores objects that a node may have deleted because of their age: tombstones, and objects for
// which over returns true.
func (t *Table) Differences(theirs []Object, over func(*Object) bool) (count int, first Key) {
	differs := func(o *Object) {
		aged := t.clock.now().Sub(o.Version.At()) > t.retention-collectMargin
		if aged && (o.Deleted || over(o)) {
			return
		}
		if count++; count == 1 || o.Key.compare(first) < 0 {
			first = o.Key
		}
	}
	there := make(map[Key]bool, len(theirs))
	for i := range theirs {
		o := &theirs[i]
		there[o.Key] = true
		if here := t.objects[o.Key]; here == nil || here.compare(o) != 0 {
			differs(o)
		}
	}
	for key, e := range t.objects {
		if !there[key] {
			differs(&e.Object)
		}
	}
	return count, first
}
