package zone

import (
	"gslb.internal/overwatch/internal/hugepage"
	"gslb.internal/overwatch/internal/policy"
)

// Gather puts what most queries read of a view that is not in force yet close together and in large pages, once its names have their
// answers. It may be left out. Answers that are given later lie elsewhere, which are few at a time.
func (v *View) Gather() {
	if len(v.index.cells) < worthwhile {
		return
	}
	together := make([]answers, 0, len(v.slots))
	for i := range v.slots {
		slot := &v.slots[i]
		if a := slot.answers.Load(); slot.steered && a.placed == nil {
			together = append(together, *a)
			moved := &together[len(together)-1]
			moved.settle()
			slot.answers.Store(moved)
		}
	}
	hugepage.Gather(together)
	hugepage.Gather(v.slots)
	hugepage.Gather(v.index.cells)
}

// settle takes the records into the room, if there is enough.
func (a *answers) settle() {
	v4, v6 := a.steered[policy.IPv4].records, a.steered[policy.IPv6].records
	if len(v4)+len(v6) > len(a.room) {
		return
	}
	room := append(a.room[:0], v4...)
	a.steered[policy.IPv4].records = room[:len(v4):len(v4)]
	a.steered[policy.IPv6].records = append(room, v6...)[len(v4):]
}
