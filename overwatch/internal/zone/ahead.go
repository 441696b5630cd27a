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
	places    [MaxAhead]*placed // where the client makes a difference
	families  [MaxAhead]*family
	turns     [MaxAhead]uint32 // where Turns has the families' positions
	numbers   [MaxAhead]uint32 // of the bases of places
	sigs      [MaxAhead]*Signature
	told      []Steered
	room      [MaxAhead]Steered // of told
	seen      uint32            // of what was read, so that the compiler does not leave the reading out
}

// Add adds a question, if there is room. It must stay as it is until Look.
func (a *Ahead) Add(q *Question) {
	if a.n < MaxAhead {
		a.questions[a.n] = q
		a.n++
	}
}

// Look reads what the view has for the questions, and forgets both.
func (a *Ahead) Look(v *View, turns *Turns) {
	n := a.n
	a.n, a.told = 0, a.room[:0]
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
	if a.steered(n, turns) {
		a.placed(v, n, turns)
	}
	a.records(n, turns)
	for _, sig := range a.sigs[:n] {
		if sig == nil {
			continue
		}
		if m := sig.made.Load(); m != nil && len(m.wire) > 0 {
			a.seen ^= uint32(m.wire[0]) ^ uint32(m.wire[len(m.wire)-1])
		}
	}
	// A view is some hundred MiB, and others may take its place before the next batch comes.
	clear(a.questions[:n])
	clear(a.slots[:n])
	clear(a.places[:n])
	clear(a.families[:n])
	clear(a.sigs[:n])
}

// Told is what the answers of the last Look will tell of themselves, as far as their basis and the choice go. It holds until the next.
func (a *Ahead) Told() []Steered { return a.told }

// cells reads where the index begins to look.
func (a *Ahead) cells(v *View, questions []*Question) {
	mask := uint64(len(v.index.cells) - 1)
	for _, q := range questions {
		q.hash = maphash.Bytes(seed, q.Name)
		a.seen ^= v.index.cells[q.hash&mask].slot
	}
}

// family is the one that is asked for, if it is a question for addresses.
func (q *Question) family() policy.Family {
	if q.Type == dns.TypeAAAA {
		return policy.IPv6
	}
	return policy.IPv4
}

// steered reads the answers of the slots, and whose turn it is. It says whether some of them depend on the client.
func (a *Ahead) steered(n int, turns *Turns) (some bool) {
	for i, slot := range a.slots[:n] {
		a.places[i], a.families[i] = nil, nil
		if slot == nil || !slot.steered {
			continue
		}
		which := a.questions[i].family()
		answers := slot.answers.Load()
		f := &answers.steered[which]
		switch {
		case f.state != answering:
		case answers.placed != nil:
			a.places[i] = &answers.placed[which]
			a.numbers[i], some = answers.number, true
			continue
		default:
			a.families[i], a.turns[i] = f, slot.turn+uint32(which)
			a.told = append(a.told, Steered{Number: answers.number, Family: which})
		}
		a.seen ^= uint32(answers.room[0])
		a.seen ^= turns.peek(slot.turn + uint32(which)).position
	}
	return some
}

// placed finds what the clients are answered where that depends on them, and reads that and whose turn it is.
func (a *Ahead) placed(v *View, n int, turns *Turns) {
	for _, p := range a.places[:n] {
		if p != nil {
			a.seen ^= uint32(p.first[0])
		}
	}
	for i, p := range a.places[:n] {
		if p == nil {
			continue
		}
		in, at, _ := p.at(v, a.questions[i].Client)
		a.families[i], a.turns[i] = &in.family, in.turn
		a.seen ^= in.edition
		a.told = append(a.told, Steered{Number: a.numbers[i], Family: a.questions[i].family(), Region: at.region, Spot: at.id, Choice: at.choice})
	}
	for i, p := range a.places[:n] {
		if p != nil {
			a.seen ^= turns.peek(a.turns[i]).position
		}
	}
}

// records reads the records of the answers, and finds the signature of the one whose turn it is.
func (a *Ahead) records(n int, turns *Turns) {
	for i, f := range a.families[:n] {
		if a.sigs[i] = nil; f == nil {
			continue
		}
		a.seen ^= uint32(f.records[0]) ^ uint32(f.records[len(f.records)-1])
		if !a.questions[i].DO || len(f.sigs) == 0 {
			continue
		}
		if turn := turns.peek(a.turns[i]); turn.of(f) {
			a.sigs[i] = f.sigs[f.schedule.Answer(turn.position)]
		}
	}
}
