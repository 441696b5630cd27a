package replica

import (
	"cmp"
	"slices"
	"time"
)

// Offer is a message from one node to another: objects that have changed, and the state of the sender's Table.
type Offer struct {
	Node    string    `json:"node"`
	Changes uint64    `json:"changes"`           // for the next Offer
	Whole   bool      `json:"whole,omitempty"`   // Objects are all that the node has
	Joining bool      `json:"joining,omitempty"` // see Table.Joining
	Synced  time.Time `json:"synced,omitzero"`   // see Table.Synced
	Objects []Object  `json:"objects"`
	More    bool      `json:"more,omitempty"` // not all: the rest is after Changes
	// Unsettled reports that the sender's clock is not settled: the sender may be joining. Joining is also true then, for
	// nodes of 0.9.0.
	Unsettled bool `json:"unsettled,omitempty"`
	// Final is the latest version that several nodes have stored, as far as the sender knows: no node can lower it. nil:
	// the sender is of 0.9.0.
	Final *Version `json:"final,omitempty"`
	// Limit is the Limit of this node in its question to the sender; zero: none.
	Limit time.Time `json:"-"`
}

// Merged is the outcome of merging an Offer. The caller must store it.
type Merged struct {
	Taken []Object // to be stored
	// Lost are objects that were changed on this node and have been replaced: its operators believed that they stand.
	Lost []Object
	// Dropped are objects that were deleted elsewhere while this node was away, so long ago that the tombstones are gone.
	// They are to be deleted.
	Dropped []Object
	// Refused are objects whose versions lie too far ahead of this node's clock. They are to be asked for again.
	Refused []Object
	// Rejected are the objects without effect here: those that the store left out of the offer, and some of Taken.
	Rejected []Rejection
	// Postponed are objects that this node lacks and that may have been deleted here: it cannot tell before its clock has
	// settled. They are to be asked for again.
	Postponed []Object
	// Synced reports that Table.Synced has changed and is to be stored. Marked reports the same for Table.Marks.
	Synced, Marked bool
}

// Joining reports whether this node may hold objects that were deleted elsewhere unnoticed: it has never had another
// node's objects, or not within the life of tombstones, or it was restored from a backup of that age. Where it differs
// from a node that is not joining, that node is right about everything older than tombstones live.
func (t *Table) Joining() bool {
	// Clocks may differ, and tombstones are judged by that of the node that has them.
	return t.synced.IsZero() || t.clock.now().Sub(t.synced) > t.retention-2*MaxAhead
}

// isKnownJoining is Joining for a clock that may be wrong: it is true only if the node is joining by every clock.
func (t *Table) isKnownJoining() bool {
	return t.synced.IsZero() || t.clock.isTrusted() && t.Joining()
}

// Synced returns when this node last had all of another node's objects; zero: never.
func (t *Table) Synced() time.Time { return t.synced }

// objectSize is the approximate size of an object in an Offer beside its value, in octets.
const objectSize = 256

// Page offers the objects that have changed after the given change number, 0: all, in about size octets at most, but at
// least one object: those that changed first, and More if there are others. Pages that follow one another, from 0 on,
// make a whole offer together.
func (t *Table) Page(change uint64, size int) Offer {
	var after []*entry
	for _, e := range t.objects {
		if e.change > change {
			after = append(after, e)
		}
	}
	slices.SortFunc(after, func(a, b *entry) int { return cmp.Compare(a.change, b.change) })
	trusted, final := t.clock.isTrusted(), t.final()
	o := Offer{Node: t.clock.node, Changes: t.changes, Whole: change == 0, Joining: !trusted || t.Joining(),
		Unsettled: !trusted, Synced: t.synced, Final: &final, Objects: []Object{}}
	for _, e := range after {
		if size <= 0 && len(o.Objects) > 0 {
			o.More = true
			break
		}
		size -= len(e.Value) + objectSize
		o.Objects, o.Changes = append(o.Objects, e.Object), e.change
	}
	if !o.More {
		o.Changes = t.changes
	}
	return o
}

// Merge takes the objects of an offer that are later than those here. Between two joining nodes, objects older than
// tombstones live are neither taken nor dropped, until Begin is called or one of them has merged with a node that is
// not joining. A node whose clock is not settled drops nothing.
func (t *Table) Merge(offer Offer) (m Merged) {
	joining := t.isKnownJoining()
	defer t.learnFinal(&offer, &m)
	switch {
	case offer.Joining && !offer.Synced.IsZero() && t.synced.IsZero() && !t.clock.isTrusted():
		t.take(offer, func(Version) bool { return true }, &m) // neither knows what is old
	case offer.Joining && (joining || !offer.Synced.IsZero()):
		t.take(offer, t.old, &m)
	case joining: // believes the others that what they have was not deleted
		own := t.All()
		t.take(offer, noneForgotten, &m)
		if offer.Whole && !t.synced.IsZero() {
			t.renewOwn(&m)
			t.dropForgotten(offer.Objects, t.old, &m)
		} else if offer.Whole && t.clock.isTrusted() {
			t.renew(own, &m)
		}
	case offer.Joining: // the first time ever
		t.take(offer, noneForgotten, &m)
	default:
		t.take(offer, t.old, &m)
	}
	if offer.Whole && !offer.Joining && len(m.Refused)+len(m.Postponed) == 0 {
		t.meet(&m)
	}
	return m
}

// meet notes that this node has all of another one's objects. The end of joining counts as a change, so that other
// nodes learn of it. A time by a clock that is not settled is not noted.
func (t *Table) meet(m *Merged) {
	if !t.clock.isTrusted() {
		return
	}
	if t.Joining() {
		t.changes++
	}
	t.synced, m.Synced = t.clock.now(), true
	t.clock.see(Version{Time: t.synced.UnixMilli()})
	m.Marked = m.Marked || t.marks.Behind != (Version{})
	t.marks.Behind = Version{}
}

// renew gives those of the objects that were changed here and stand, and that others would count as deleted for their
// age, versions of half that age. This node has met nobody, so nobody can have deleted them.
func (t *Table) renew(own []Object, m *Merged) {
	at := t.clock.now().Add(-t.retention / 2).UnixMilli()
	for _, o := range own {
		here := t.objects[o.Key]
		if here != nil && here.Version == o.Version && o.Version.Node == t.clock.node && !o.Deleted && t.old(o.Version) {
			o.Version = Version{Time: at, Node: t.clock.node}
			m.Taken = append(m.Taken, t.put(o))
		}
	}
}

// renewOwn changes the versions of old objects that this node changed while its clock was behind, since it last met
// another node, to half the retention's age: they are not that old, and no other node can have deleted them.
func (t *Table) renewOwn(m *Merged) {
	if t.marks.Behind == (Version{}) {
		return
	}
	at := t.clock.now().Add(-t.retention / 2).UnixMilli()
	for _, o := range t.All() {
		if o.Version.Node == t.clock.node && o.Version.Compare(t.marks.Behind) >= 0 && t.old(o.Version) {
			o.Version = Version{Time: at, Node: t.clock.node}
			m.Taken = append(m.Taken, t.put(o))
		}
	}
}

// MeetEvery is the interval at which a node calls Met while its digest equals another's: never sooner, and not much
// later.
const MeetEvery = time.Minute

// Met notes that this node has all objects of another one that is not joining, as equal digests show.
func (t *Table) Met() { t.meet(&Merged{}) }

// Begin ends Joining for a node whose peers have all answered with whole offers and are joining too, so that no node is
// right by itself. Objects changed since two nodes last met are kept. An older object that one of the two lacks counts
// as deleted. While the clock is not settled, Begin does nothing.
func (t *Table) Begin(offers []Offer) (m Merged) {
	if !t.clock.isTrusted() {
		return m
	}
	for _, offer := range offers {
		forgotten := t.forgottenBetween(offer)
		t.take(offer, forgotten, &m)
		t.dropForgotten(offer.Objects, forgotten, &m)
	}
	t.meet(&m)
	return m
}

// noneForgotten is a forgotten function, see mergeOne, for offers from which no object can be missing because of a
// deletion.
func noneForgotten(Version) bool { return false }

// forgottenBetween returns a forgotten function for two joining nodes: of an object that only one of them has, it
// reports whether the other must have deleted it.
func (t *Table) forgottenBetween(offer Offer) func(Version) bool {
	if t.synced.IsZero() || offer.Synced.IsZero() {
		return noneForgotten // the one has met nobody, so it has only its own
	}
	met := t.synced // what is later than the last time that either of them met anybody, the other cannot have deleted
	if offer.Synced.Before(met) {
		met = offer.Synced
	}
	met = met.Add(2*MaxAhead + MeetEvery) // by whichever clock
	return func(v Version) bool { return t.old(v) && v.At().Before(met) }
}

// take merges the objects of an offer.
func (t *Table) take(offer Offer, forgotten func(Version) bool, m *Merged) {
	for _, object := range offer.Objects {
		if t.refuses(object.Version, &offer) {
			m.Refused = append(m.Refused, object)
			continue
		}
		t.receive(object.Version, m)
		t.mergeOne(object, forgotten, m)
	}
}

// mergeOne takes an object if it is later than the one here. An object that is not here is left out if forgotten
// reports for its version that it was deleted here. Before the clock has settled, every tombstone is stored.
func (t *Table) mergeOne(o Object, forgotten func(Version) bool, m *Merged) {
	here := t.objects[o.Key]
	switch {
	case here != nil && o.compare(&here.Object) <= 0:
		return
	case here == nil && o.Deleted && t.clock.isTrusted() && t.old(o.Version):
		return
	case here == nil && !o.Deleted && forgotten(o.Version):
		if !t.clock.isTrusted() {
			m.Postponed = append(m.Postponed, o)
		}
		return
	}
	if here != nil && here.Version.Node == t.clock.node {
		m.Lost = append(m.Lost, here.Object)
	}
	m.Taken = append(m.Taken, t.put(o))
}

// dropForgotten drops the objects that theirs lacks and for which forgotten reports a deletion there.
func (t *Table) dropForgotten(theirs []Object, forgotten func(Version) bool, m *Merged) {
	there := make(map[Key]bool, len(theirs))
	for i := range theirs {
		there[theirs[i].Key] = true
	}
	for _, o := range t.All() {
		if !there[o.Key] && forgotten(o.Version) {
			t.drop(o.Key)
			m.Dropped = append(m.Dropped, o)
		}
	}
}
