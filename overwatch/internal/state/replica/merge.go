package replica

import (
	"cmp"
	"slices"
	"time"
)

// Offer is a message between two nodes: objects that have changed, and the state of the sender's Table.
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
	// Lost contains objects that were changed on this node and replaced by later changes of other nodes.
	Lost []Object
	// Dropped contains objects that other nodes deleted while this node was offline. Their tombstones no longer exist. The
	// caller must delete the objects.
	Dropped []Object
	// Refused contains the objects with versions beyond the maximum clock difference. The caller must request them later.
	Refused []Object
	// Rejected contains the objects without effect on this node: the objects that the store removed from the offer, and a
	// part of Taken.
	Rejected []Rejection
	// Postponed contains objects that this node lacks and may have deleted, which is unknown until its clock has settled.
	// The caller must request them later.
	Postponed []Object
	// Synced reports whether the caller must store a changed Table.Synced. Marked reports the same for Table.Marks.
	Synced, Marked bool
}

// Joining reports whether this node may have objects that other nodes have deleted: it has never had the objects of
// another node, or not within the retention of tombstones, or it was restored from an equally old backup. For objects
// older than the retention, a node that is not joining takes precedence.
func (t *Table) Joining() bool {
	// Clocks may differ. Each node applies its own clock to its tombstones.
	return t.synced.IsZero() || t.clock.now().Sub(t.synced) > t.retention-2*MaxAhead
}

// isKnownJoining is Joining for a clock that may be wrong: it is true only if the node is joining according to every
// possible clock.
func (t *Table) isKnownJoining() bool {
	return t.synced.IsZero() || t.clock.isTrusted() && t.Joining()
}

// Synced returns the last time at which this node had all objects of another node, or zero.
func (t *Table) Synced() time.Time { return t.synced }

// objectSize is the approximate size of an object in an Offer without its value, in bytes.
const objectSize = 256

// Page offers the objects that changed after a change number, the earliest changes first. The number 0 means all
// objects. A page has about size octets at most, but at least one object. More reports whether there are later changes.
// Consecutive pages from 0 on are a complete offer.
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

// Merge stores the objects of an offer that are later than the objects of this node. Between two joining nodes, it
// neither stores nor drops objects older than the retention, until Begin is called or one of the nodes has merged with
// a node that is not joining. A node without a settled clock drops no objects.
func (t *Table) Merge(offer Offer) (m Merged) {
	joining := t.isKnownJoining()
	defer t.learnFinal(&offer, &m)
	switch {
	case offer.Joining && !offer.Synced.IsZero() && t.synced.IsZero() && !t.clock.isTrusted():
		t.mergeObjects(offer, func(Version) bool { return true }, &m) // no node can determine which objects are old
	case offer.Joining && (joining || !offer.Synced.IsZero()):
		t.mergeObjects(offer, t.old, &m)
	case joining: // the objects of other nodes were not deleted
		own := t.All()
		t.mergeObjects(offer, noneForgotten, &m)
		if offer.Whole && !t.synced.IsZero() {
			t.renewOwn(&m)
			t.dropForgotten(offer.Objects, t.old, &m)
		} else if offer.Whole && t.clock.isTrusted() {
			t.renew(own, &m)
		}
	case offer.Joining: // the other node has never met a node
		t.mergeObjects(offer, noneForgotten, &m)
	default:
		t.mergeObjects(offer, t.old, &m)
	}
	if offer.Whole && !offer.Joining && len(m.Refused)+len(m.Postponed) == 0 {
		t.recordMeeting(&m)
	}
	return m
}

// recordMeeting records that this node has all objects of another node. The end of joining is a change, so that other
// nodes receive it. Without a settled clock, it does not record the time.
func (t *Table) recordMeeting(m *Merged) {
	if !t.clock.isTrusted() {
		return
	}
	if t.Joining() {
		t.changes++
	}
	t.synced, m.Synced = t.clock.now(), true
	t.clock.advancePast(Version{Time: t.synced.UnixMilli()})
	m.Marked = m.Marked || t.marks.Behind != (Version{})
	t.marks.Behind = Version{}
}

// renew changes the versions of this node's objects that other nodes would drop because of their age. Their new age is
// half of the maximum age. This node has not met another node, so no other node can have deleted these objects.
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
// another node. Their new age is half of the retention: their real age is lower, and no other node can have deleted
// them.
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

// MeetEvery is the minimum interval at which a node calls Met while its digest equals the digest of another node. The
// actual interval must not be much longer.
const MeetEvery = time.Minute

// Met records that this node has all objects of another node that is not joining, because their digests are equal.
func (t *Table) Met() { t.recordMeeting(&Merged{}) }

// Begin merges the offers of peers and ends Joining. The caller must have complete offers of all peers, and all peers
// must be joining, so that no node takes precedence. Begin stores objects that changed since two nodes last met. It
// treats an older object that one of the two nodes lacks as deleted. Without a settled clock, it does nothing.
func (t *Table) Begin(offers []Offer) (m Merged) {
	if !t.clock.isTrusted() {
		return m
	}
	for _, offer := range offers {
		forgotten := t.forgottenBetween(offer)
		t.mergeObjects(offer, forgotten, &m)
		t.dropForgotten(offer.Objects, forgotten, &m)
	}
	t.recordMeeting(&m)
	return m
}

// noneForgotten is a forgotten function (see mergeOne) for offers that lack no object because of a deletion.
func noneForgotten(Version) bool { return false }

// forgottenBetween returns a forgotten function for two joining nodes. For an object that only one of the nodes has,
// the function reports whether the other node must have deleted it.
func (t *Table) forgottenBetween(offer Offer) func(Version) bool {
	if t.synced.IsZero() || offer.Synced.IsZero() {
		return noneForgotten // a node that has not met another has only its own objects
	}
	met := t.synced // the other node cannot have deleted objects that are later than the last meeting
	if offer.Synced.Before(met) {
		met = offer.Synced
	}
	met = met.Add(2*MaxAhead + MeetEvery) // according to either clock
	return func(v Version) bool { return t.old(v) && v.At().Before(met) }
}

// mergeObjects merges the objects of an offer.
func (t *Table) mergeObjects(offer Offer, forgotten func(Version) bool, m *Merged) {
	for _, object := range offer.Objects {
		if t.refuses(object.Version, &offer) {
			m.Refused = append(m.Refused, object)
			continue
		}
		t.receive(object.Version, m)
		t.mergeOne(object, forgotten, m)
	}
}

// mergeOne stores an object if it is later than the object of this node. It skips an object that this node lacks if
// forgotten reports that this node has deleted the version. Before the clock has settled, it stores every tombstone.
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

// dropForgotten drops the objects that theirs lacks and for which forgotten reports a deletion on the other node.
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
