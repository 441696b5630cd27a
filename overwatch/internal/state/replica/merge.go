package replica

import (
	"cmp"
	"slices"
	"time"
)

// Offer is what one node gives another.
type Offer struct {
	Node    string    `json:"node"`
	Changes uint64    `json:"changes"`           // for the next Offer
	Whole   bool      `json:"whole,omitempty"`   // Objects are all that the node has
	Joining bool      `json:"joining,omitempty"` // see Table.Joining
	Synced  time.Time `json:"synced,omitzero"`   // see Table.Synced
	Objects []Object  `json:"objects"`
	More    bool      `json:"more,omitempty"` // not all: the rest is after Changes
}

// Merged is what an Offer has changed.
type Merged struct {
	Taken []Object // to be stored
	// Lost are the objects that others took the place of, and that were changed on this node: its operators were told
	// that they stand.
	Lost []Object
	// Dropped have been deleted elsewhere, for longer than tombstones live, while this node was away.
	Dropped []Object
	// Refused lie too far ahead of this node's clock. They are to be asked for again.
	Refused []Object
	// Synced reports that Table.Synced is another: to be stored.
	Synced bool
}

// Joining reports whether this node has been without the others for as long as tombstones live, or for ever, or was
// restored from a backup of that age. It may then hold what was deleted long ago: where it differs from a node that is
// not joining, that one is right about everything of that age.
func (t *Table) Joining() bool {
	// Clocks may differ, and tombstones are judged by that of the node that has them.
	return t.synced.IsZero() || t.clock.now().Sub(t.synced) > t.retention-2*MaxAhead
}

// Synced returns when this node last had all of another node's objects; zero: never.
func (t *Table) Synced() time.Time { return t.synced }

// Offer returns what has changed after the change of a number; 0: everything.
func (t *Table) Offer(change uint64) Offer {
	return Offer{Node: t.clock.node, Changes: t.changes, Whole: change == 0, Joining: t.Joining(), Synced: t.synced,
		Objects: t.Since(change)}
}

// objectSize is about how many octets an object takes in an Offer beside its value.
const objectSize = 256

// Page is Offer with about size octets at most, but at least one object: those that changed first, and More if there
// are others. Pages that follow one another, from 0 on, make a whole offer together.
func (t *Table) Page(change uint64, size int) Offer {
	var after []*entry
	for _, e := range t.objects {
		if e.change > change {
			after = append(after, e)
		}
	}
	slices.SortFunc(after, func(a, b *entry) int { return cmp.Compare(a.change, b.change) })
	o := Offer{Node: t.clock.node, Changes: t.changes, Whole: change == 0, Joining: t.Joining(), Synced: t.synced,
		Objects: []Object{}}
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

// Merge takes from an offer the objects that are later than those here. Between two nodes that are joining, what is
// older than tombstones live stays where it is, until one of them has met a node that is not, or Begin.
func (t *Table) Merge(offer Offer) (m Merged) {
	joining := t.Joining()
	switch {
	case offer.Joining && (joining || !offer.Synced.IsZero()):
		t.take(offer, t.old, &m)
	case joining: // believes the others that what they have was not deleted
		t.take(offer, never, &m)
		if offer.Whole && !t.synced.IsZero() {
			t.dropForgotten(offer.Objects, t.old, &m)
		}
	case offer.Joining: // the first time ever
		t.take(offer, never, &m)
	default:
		t.take(offer, t.old, &m)
	}
	if offer.Whole && !offer.Joining && len(m.Refused) == 0 {
		t.meet(&m)
	}
	return m
}

// meet notes that this node has all of another one's objects. The end of joining counts as a change, which others are
// to be told.
func (t *Table) meet(m *Merged) {
	if t.Joining() {
		t.changes++
	}
	t.synced, m.Synced = t.clock.now(), true
}

// MeetEvery is how often a node is to call Met at most, and about how often at least.
const MeetEvery = time.Minute

// Met notes that this node has all objects of another one that is not joining, as equal digests show.
func (t *Table) Met() { t.meet(&Merged{}) }

// Begin ends Joining for a node whose peers have all answered, with whole offers, and are joining too: nobody knows
// better. What was made since two nodes last met is kept, and what is older than that and missing on one is deleted.
func (t *Table) Begin(offers []Offer) (m Merged) {
	for _, offer := range offers {
		forgotten := t.apart(offer)
		t.take(offer, forgotten, &m)
		t.dropForgotten(offer.Objects, forgotten, &m)
	}
	t.meet(&m)
	return m
}

// never is for objects none of which can have been deleted elsewhere unnoticed.
func never(Version) bool { return false }

// apart returns a function that reports whether an object that only one of two joining nodes has must have been deleted
// on the other.
func (t *Table) apart(offer Offer) func(Version) bool {
	if t.synced.IsZero() || offer.Synced.IsZero() {
		return never // the one has met nobody, so it has only its own
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
		t.mergeOne(object, forgotten, m)
	}
}

// mergeOne takes an object if it is later than the one here.
func (t *Table) mergeOne(o Object, forgotten func(Version) bool, m *Merged) {
	here := t.objects[o.Key]
	switch {
	case t.clock.ahead(o.Version):
		m.Refused = append(m.Refused, o)
		return
	case here != nil && o.compare(&here.Object) <= 0:
		return
	case here == nil && (o.Deleted && t.old(o.Version) || forgotten(o.Version)):
		return
	}
	t.clock.see(o.Version)
	if here != nil && here.Version.Node == t.clock.node {
		m.Lost = append(m.Lost, here.Object)
	}
	m.Taken = append(m.Taken, t.put(o))
}

// dropForgotten drops what the other node must have deleted.
func (t *Table) dropForgotten(theirs []Object, forgotten func(Version) bool, m *Merged) {
	there := make(map[Key]bool, len(theirs))
	for i := range theirs {
		there[theirs[i].Key] = true
	}
	for _, o := range t.Since(0) {
		if !there[o.Key] && forgotten(o.Version) {
			t.drop(o.Key)
			m.Dropped = append(m.Dropped, o)
		}
	}
}
