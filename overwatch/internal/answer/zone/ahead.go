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
// the next one is. Here each step is taken for all questions before the next, and the processor waits for all of them at once. It looks
// some two hundred instructions ahead, so that what reads is loops that do nothing else.
//
// It changes no answer and may be left out. The zero Ahead is empty.
type Ahead struct {
	n         int
	questions [MaxAhead]*Question
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
	questions := a.questions[:a.n]
	a.n, a.told = 0, a.room[:0]
	if len(questions) > 1 && len(v.index.cells) >= worthwhile {
		var room [MaxAhead]glance
		glances := a.slots(room[:0], v, questions)
		glances = a.answers(glances, v)
		a.families(glances, v, turns)
		a.signatures(glances, turns)
	}
}

// Told is what the answers of the last Look will tell of themselves, as far as their basis and the choice go. It holds until the next.
func (a *Ahead) Told() []Steered { return a.told }

// glance is what was found for a question so far.
type glance struct {
	*Question
	slot    *Slot
	number  uint32 // of the slot, plus one
	answers *answers
	placed  *placed // nil: the client makes no difference
	family  *family // nil: there is no address
	turn    uint32  // where Turns has the family's position
	which   policy.Family
	signed  bool
}

// slots finds the slots of the names, and reads them.
func (a *Ahead) slots(into []glance, v *View, questions []*Question) []glance {
	var homes [MaxAhead]uint32
	mask := uint64(len(v.index.cells) - 1)
	for i, q := range questions {
		q.hash = maphash.Bytes(seed, q.Name)
		homes[i] = uint32(q.hash & mask)
	}
	seen := uint32(0)
	for _, at := range homes[:len(questions)] {
		seen ^= v.index.cells[at].slot
	}
	for _, q := range questions {
		if number := v.candidate(q.hash); number > 0 {
			into = append(into, glance{Question: q, number: number, slot: &v.slots[number-1]})
		}
	}
	for i := range into {
		seen ^= into[i].slot.turn
	}
	a.seen ^= seen
	return into
}

// answers reads the answers of the slots that are steered, and leaves the others out.
func (a *Ahead) answers(glances []glance, v *View) []glance {
	n := 0
	for i := range glances {
		g := &glances[i]
		slot, q := g.slot, g.Question
		if !v.named(g.number-1, q.Name) {
			continue
		}
		if q.found = (found{view: v.id, slot: g.number}); !slot.steered {
			continue
		}
		next := &glances[n]
		next.Question, next.slot, next.answers = q, slot, slot.answers.Load()
		if q.Type == dns.TypeAAAA {
			next.which = policy.IPv6
		}
		next.signed = q.DO && slot.zone.signer != nil
		n++
	}
	glances = glances[:n]
	seen := uint32(0)
	for i := range glances {
		seen ^= glances[i].answers.number
	}
	for i := range glances {
		if g := &glances[i]; g.which == policy.IPv6 {
			seen ^= g.answers.steered[policy.IPv6].ttl
		}
	}
	for i := range glances {
		if g := &glances[i]; g.signed && g.answers.placed == nil && g.answers.steered[g.which].more != nil {
			seen++
		}
	}
	a.seen ^= seen
	return glances
}

// families finds the addresses that are answered, and reads these and whose turn it is.
func (a *Ahead) families(glances []glance, v *View, turns *Turns) {
	some := false
	for i := range glances {
		g := &glances[i]
		f := &g.answers.steered[g.which]
		switch {
		case f.state != answering:
		case g.answers.placed != nil:
			g.placed, some = &g.answers.placed[g.which], true
		default:
			g.family, g.turn = f, g.slot.turn+uint32(g.which)
			a.told = append(a.told, Steered{Number: g.answers.number, Family: g.which})
		}
	}
	if some {
		a.variants(glances, v)
	}
	seen := uint32(0)
	for i := range glances {
		if g := &glances[i]; g.family != nil && g.family.schedule.Len() > 1 {
			seen ^= turns.peek(g.turn).position
		}
	}
	a.seen ^= seen
}

// variants finds what clients are answered where that depends on them, and reads that.
func (a *Ahead) variants(glances []glance, v *View) {
	seen := uint32(0)
	for i := range glances {
		if p := glances[i].placed; p != nil {
			seen ^= uint32(p.first[0])
		}
	}
	var variants [MaxAhead]*variant
	for i := range glances {
		g := &glances[i]
		if g.placed == nil {
			continue
		}
		if g.placed.spots == nil {
			g.found.region, g.found.scope = v.locate(g.Client)
			g.found.located = true
		}
		in, at, _ := g.placed.at(v, g.Question)
		a.told = append(a.told, Steered{Number: g.answers.number, Family: g.which, Region: at.region, Spot: at.id, Choice: at.choice})
		variants[i] = in // whose address alone is taken: to name a part of it would be to read it
	}
	for i := range glances {
		if in := variants[i]; in != nil {
			seen ^= in.edition
		}
	}
	for i := range glances {
		if in := variants[i]; in != nil {
			glances[i].family, glances[i].turn = &in.family, in.turn
			if glances[i].signed && in.more != nil {
				seen++
			}
		}
	}
	a.seen ^= seen
}

// signatures reads those of the answers whose turn it is.
func (a *Ahead) signatures(glances []glance, turns *Turns) {
	var room [MaxAhead]*Signature
	sigs := room[:0]
	for i := range glances {
		g := &glances[i]
		if g.family == nil || !g.signed {
			continue
		}
		position := uint32(0)
		if g.family.schedule.Len() > 1 {
			turn := turns.peek(g.turn)
			if !turn.of(g.family) {
				continue
			}
			position = turn.position
		}
		if sig := g.family.signature(g.family.schedule.Answer(position)); sig != nil {
			sigs = append(sigs, sig)
		}
	}
	seen := uint32(0)
	for _, sig := range sigs {
		if sig.made.Load() != nil {
			seen++
		}
	}
	for _, sig := range sigs {
		if m := sig.made.Load(); m != nil {
			seen ^= m.epoch ^ uint32(m.near[len(m.near)-1])
		}
	}
	a.seen ^= seen
}
