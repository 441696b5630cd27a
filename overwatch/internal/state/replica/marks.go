package replica

import "time"

// Marks bound the versions that a node may still lower. The caller stores them in the transaction of each change.
type Marks struct {
	// Stored is an upper bound of this node's own versions that another node may have stored.
	Stored Version `json:"stored"`
	// Seen is the latest version that this node, or another node, has received and accepted.
	Seen Version `json:"seen"`
	// Clock is a reading of the node's clock, at most a minute old. New versions are later, even if the clock is behind
	// after a restart.
	Clock Version `json:"clock"`
	// Behind is the first version that this node assigned while its clock was behind earlier readings, since the last
	// meeting with another node. Zero: no such version.
	Behind Version `json:"behind,omitzero"`
}

// readClock records the reading of the clock.
func (t *Table) readClock() {
	now := Version{Time: t.clock.now().UnixMilli()}
	if !t.isSettled() {
		now = later(now, t.marks.Clock)
	}
	t.marks.Clock = now
	t.clock.advancePast(now)
}

// Marks returns the current marks.
func (t *Table) Marks() Marks { return t.marks }

// marksOf returns marks for objects that a program without marks has stored. Other nodes may have all of them.
func marksOf(objects []Object, node string) (m Marks) {
	for i := range objects {
		v := objects[i].Version
		m.Seen = later(m.Seen, v)
		if v.Node == node {
			m.Stored = later(m.Stored, v)
		}
	}
	return m
}

// MarkStored records that another node may have stored this node's versions up to v.
func (t *Table) MarkStored(v Version) {
	t.served = later(t.served, v)
	if v.Compare(t.marks.Stored) > 0 {
		t.marks.Stored = Version{Time: v.Time + markLead.Milliseconds(), Count: v.Count, Node: v.Node}
	}
}

// isUnmarked reports whether a version is this node's own version that no other node has stored.
func (t *Table) isUnmarked(v Version) bool {
	return v.Node == t.clock.node && v.Compare(t.served) > 0
}

// Unmarked returns the latest unmarked version of this node in an offer that the receiver may store. limit is the
// receiver's Limit, or zero if it is unknown. ok is false without such a version. The caller passes the version to
// MarkStored and stores the marks. Then it may send the offer.
func (t *Table) Unmarked(offer *Offer, limit time.Time) (v Version, ok bool) {
	for i := range offer.Objects {
		one := offer.Objects[i].Version
		refused := !limit.IsZero() && one.At().Sub(limit) > MaxAhead+transit
		if t.isUnmarked(one) && !refused && one.Compare(v) > 0 {
			v, ok = one, true
		}
	}
	return v, ok
}

// final returns the latest version that other nodes have stored or may have stored.
func (t *Table) final() Version { return later(t.marks.Seen, t.served) }

// learnFinal records the latest version that the sender of an offer knows to be stored. The next question contains the
// new Limit, so that this node then accepts versions up to it.
func (t *Table) learnFinal(offer *Offer, m *Merged) {
	if offer.Final != nil && offer.Final.At().Sub(t.clock.now()) <= maxLead {
		t.raise(*offer.Final, m)
	}
}

// Limit returns the time that versions from other nodes may exceed by MaxAhead. It is the node's clock. It is later if
// several nodes have stored a later version: no node can lower that version, so all nodes accept it.
func (t *Table) Limit() time.Time {
	return laterTime(t.clock.now(), t.final().At().Add(-MaxAhead))
}

// refuses reports whether a version in an offer is beyond the maximum clock difference. The Limit in the question
// bounds the accepted versions, because the sender relies on it. This node accepts its own versions, for example after
// a loss of its disk.
func (t *Table) refuses(v Version, offer *Offer) bool {
	if v.Node == t.clock.node {
		return v.At().Sub(t.clock.now()) > maxLead
	}
	limit := t.Limit()
	if told := offer.Limit.Add(transit); !offer.Limit.IsZero() && told.Before(limit) {
		limit = told
	}
	return v.At().Sub(limit) > MaxAhead
}

// receive advances the clock and the marks to a version that another node has stored, whether or not this node stores
// the object.
func (t *Table) receive(v Version, m *Merged) {
	before := t.marks
	if v.Node == t.clock.node {
		t.MarkStored(v)
	}
	m.Marked = m.Marked || t.marks != before
	t.raise(v, m)
}

func (t *Table) raise(seen Version, m *Merged) {
	t.clock.advancePast(seen)
	m.Marked = m.Marked || t.marks.Seen.Compare(seen) < 0
	t.marks.Seen = later(t.marks.Seen, seen)
}

// floor returns the lower bound of new versions: the latest version that another node may have, or the last time at
// which all objects were equal.
func (t *Table) floor() Version {
	floor := t.final()
	if t.clock.agreed && t.synced.Sub(t.clock.now()) > MaxAhead {
		return floor // the clock was wrong at that time
	}
	return later(floor, Version{Time: t.synced.UnixMilli()})
}
