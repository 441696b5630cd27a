package zone

import (
	"hash/maphash"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// MaxAhead is how many questions an Ahead takes.
const MaxAhead = 32

// worthwhile is how many cells an index has that does not stay in the nearer caches.
const worthwhile = 1 << 11

// Ahead reads what the answers to a batch of questions lie in before the first of them is answered. With many names, nearly
// all that an answer costs is waiting for memory: for the cell of the index, then the slot, then its answers, each of which says where
// the next one is. Here each step is taken for all questions before the next, and the processor waits for all of them at once.
//
// It changes no answer and may be left out. The zero Ahead is empty.
type Ahead struct {
	n         int
	questions [MaxAhead]*Question
	slots     [MaxAhead]*Slot
	families  [MaxAhead]*family
	sigs      [MaxAhead]*Signature
	numbers   []uint32
	room      [MaxAhead]uint32 // of numbers
	seen      uint32           // of what was read, so that the compiler does not leave the reading out
}

// Add adds a question, if there is room. It must stay as it is until Look.
func (a *Ahead) Add(q *Question) {
	if a.n < MaxAhead {
		a.questions[a.n] = q
		a.n++
	}
}

// Look reads what the view has for the questions, and forgets them.
func (a *Ahead) Look(v *View, turns *Turns) {
	n := a.n
	a.n, a.numbers = 0, a.room[:0]
	if n < 2 || len(v.index.cells) < worthwhile {
		return
	}
	a.cells(v, a.questions[:n])
	for i, q := range a.questions[:n] {
		slot := v.candidate(q.hash)
		if a.slots[i] = slot; slot != nil {
			a.seen ^= slot.turn
		}
	}
	a.steered(n, turns)
	a.records(n, turns)
	for _, sig := range a.sigs[:n] {
		if sig == nil {
			continue
		}
		if m := sig.made.Load(); m != nil && len(m.wire) > 0 {
			a.seen ^= uint32(m.wire[0]) ^ uint32(m.wire[len(m.wire)-1])
		}
	}
}

// Numbers is those of the bases that the last Look came across. It holds until the next.
func (a *Ahead) Numbers() []uint32 { return a.numbers }

// cells reads where the index begins to look.
func (a *Ahead) cells(v *View, questions []*Question) {
	mask := uint64(len(v.index.cells) - 1)
	for _, q := range questions {
		q.hash = maphash.Bytes(seed, q.Name)
		a.seen ^= v.index.cells[q.hash&mask].slot
	}
}

// steered reads the answers of the slots, and whose turn it is.
func (a *Ahead) steered(n int, turns *Turns) {
	for i, slot := range a.slots[:n] {
		a.families[i] = nil
		if slot == nil || !slot.steered {
			continue
		}
		which := policy.IPv4
		if a.questions[i].Type == dns.TypeAAAA {
			which = policy.IPv6
		}
		answers := slot.answers.Load()
		if f := &answers.steered[which]; f.state == answering {
			a.families[i] = f
			a.numbers = append(a.numbers, answers.number)
		}
		a.seen ^= uint32(answers.room[0])
		a.seen ^= turns.peek(slot.turn + uint32(which)).position
	}
}

// records reads the records of the answers, and finds the signature of the one whose turn it is.
func (a *Ahead) records(n int, turns *Turns) {
	for i, f := range a.families[:n] {
		if a.sigs[i] = nil; f == nil {
			continue
		}
		a.seen ^= uint32(f.records[0]) ^ uint32(f.records[len(f.records)-1])
		q := a.questions[i]
		if !q.DO || len(f.sigs) == 0 {
			continue
		}
		which := policy.IPv4
		if q.Type == dns.TypeAAAA {
			which = policy.IPv6
		}
		if turn := turns.peek(a.slots[i].turn + uint32(which)); turn.of(f) {
			a.sigs[i] = f.sigs[f.schedule.Answer(turn.position)]
		}
	}
}
