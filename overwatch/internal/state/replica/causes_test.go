package replica_test

import (
	"maps"

	"gslb.internal/overwatch/internal/state/replica"
)

// causes contains the decisions of a simulation, and for each the decisions that it replaced knowingly.
type causes struct {
	numbers map[string]int // of decisions, by mark
	made    []made
}

// made describes one decision of a node.
type made struct {
	replica.Object
	past map[int]bool // decisions on the same object that the node had seen
	over map[int]bool // other decisions that this one overtook on some node
	gone bool         // no disk holds the decision or a decision that replaced it knowingly
}

// knowledge contains the decisions on each object that a node has received.
type knowledge map[replica.Key]map[int]bool

func (k knowledge) clone() knowledge {
	c := knowledge{}
	for key, seen := range k {
		c[key] = maps.Clone(seen)
	}
	return c
}

func (k knowledge) of(key replica.Key) map[int]bool {
	if k[key] == nil {
		k[key] = make(map[int]bool)
	}
	return k[key]
}

// mark identifies a decision. A value is unique, and a tombstone only has its version.
func mark(o replica.Object) string {
	if o.Deleted {
		return "deletion of " + o.Name + " " + o.Version.String()
	}
	return string(o.Value)
}

// number returns the number of the decision that an object contains.
func (c *causes) number(o replica.Object) int {
	number, ok := c.numbers[mark(o)]
	if !ok {
		return -1
	}
	return number
}

// decide records a new decision of a node.
func (m *member) decide(o replica.Object) {
	seen := m.knows.of(o.Key)
	m.numbers[mark(o)] = len(m.causes.made)
	m.causes.made = append(m.causes.made, made{Object: o, past: maps.Clone(seen), over: make(map[int]bool)})
	seen[m.number(o)] = true
}

// rename records that a decision has another version.
func (c *causes) rename(before, after replica.Object) { c.numbers[mark(after)] = c.number(before) }

// renamed records the decisions of a node whose versions a merge has changed.
func (m *member) renamed(taken []replica.Object) {
	for _, o := range taken {
		for _, before := range m.stored {
			if before.Key == o.Key && m.number(o) < 0 {
				m.rename(before, o)
			}
			if before.Key == o.Key && m.number(before) == m.number(o) {
				m.acked = append(m.acked, o)
			}
		}
	}
}

// learn adds the accepted objects of an offer to the knowledge of a node.
func (m *member) learn(objects, refused []replica.Object) {
	not := make(map[string]bool)
	for _, o := range refused {
		not[mark(o)] = true
	}
	for _, o := range objects {
		if number := m.number(o); number < 0 {
			m.t.Errorf("%+v is offered, which nobody decided", o)
		} else if !not[mark(o)] {
			seen := m.knows.of(o.Key)
			seen[number] = true
			maps.Copy(seen, m.causes.made[number].past)
		}
	}
}

// overtake records that objects from another node replace objects of this node.
func (m *member) overtake(taken []replica.Object) {
	for _, o := range taken {
		for _, before := range m.stored {
			number, overtaken := m.number(o), m.number(before)
			if before.Key == o.Key && number != overtaken && number >= 0 && overtaken >= 0 {
				m.causes.made[number].over[overtaken] = true
			}
		}
	}
}

// pastOf adds a decision to a set, with all decisions that it replaced directly or indirectly.
func (c *causes) pastOf(number int, set map[int]bool) {
	if set[number] {
		return
	}
	set[number] = true
	for p := range c.made[number].past {
		c.pastOf(p, set)
	}
	for p := range c.made[number].over {
		c.pastOf(p, set)
	}
}

// forget records the decisions that no disk contains, because a disk was lost or its node was away for a long time.
func (w *world) forget(gone []replica.Object) {
	for _, o := range gone {
		held := make(map[int]bool)
		for _, m := range w.nodes {
			for _, there := range m.stored {
				if number := w.number(there); there.Key == o.Key && number >= 0 {
					w.pastOf(number, held)
				}
			}
		}
		lost := make(map[int]bool)
		w.pastOf(w.number(o), lost)
		for number := range lost {
			w.causes.made[number].gone = w.causes.made[number].gone || !held[number]
		}
	}
}

// judgeCauses reports lost decisions: a node stores a decision that a later decision replaced knowingly, or stores no
// object although the last decisions were not deletions.
func (w *world) judgeCauses(m *member) {
	last := make(map[replica.Key]map[int]bool)
	for number, d := range w.causes.made {
		if d.gone {
			continue
		}
		if last[d.Key] == nil {
			last[d.Key] = make(map[int]bool)
		}
		last[d.Key][number] = true
		if o, there := m.table.Get(d.Key); there && d.past[w.number(o)] {
			w.t.Errorf("%s has %+v, which %+v has replaced knowingly", m.name(), o, d.Object)
		}
	}
	for key, numbers := range last {
		for number := range maps.Clone(numbers) {
			past := make(map[int]bool)
			w.pastOf(number, past)
			for p := range past {
				if p != number {
					delete(numbers, p)
				}
			}
		}
		deleted := false
		for number := range numbers {
			deleted = deleted || w.causes.made[number].Deleted
		}
		if _, there := m.table.Get(key); !there && !deleted {
			w.t.Errorf("%s has no %s, the last decisions on it are no deletions: %v", m.name(), key.Name, numbers)
		}
	}
}
