package zone

import (
	"iter"

	"gslb.internal/overwatch/internal/hugepage"
	"gslb.internal/overwatch/internal/policy"
)

// Gather puts what most queries read of a view that is not in force yet close together and in large pages, once its names have their
// answers. It may be left out. Answers that are given later lie elsewhere, which are few at a time.
func (v *View) Gather() {
	if len(v.index.cells) < worthwhile {
		return
	}
	v.gatherAnswers()
	v.gatherPlaced()
}

// gatherAnswers moves the answers that are the same for everybody.
func (v *View) gatherAnswers() {
	together := make([]answers, 0, v.count(func(a *answers) int {
		if a.placed != nil {
			return 0
		}
		return 1
	}))
	hugepage.Gather(together)
	for slot, a := range v.steeredAnswers() {
		if a.placed == nil {
			together = append(together, *a)
			slot.answers.Store(&together[len(together)-1])
		}
	}
}

// placedAnswers are answers that depend on the client, in whole lines of the cache.
type placedAnswers struct {
	answers
	places [2]placed
}

// placedWhole are such answers with all their variants, of names that have few: what an answer reads then lies in one page, whose address is
// translated once.
type placedWhole struct {
	placedAnswers
	variants [fewVariants]variant
}

const fewVariants = 4

// gatherPlaced moves the answers that depend on the client.
func (v *View) gatherPlaced() {
	var few, several, variants int
	for _, a := range v.steeredAnswers() {
		switch n := a.countVariants(); {
		case a.placed == nil:
		case n <= fewVariants:
			few++
		default:
			several++
			variants += n
		}
	}
	whole, parted, spread := make([]placedWhole, 0, few), make([]placedAnswers, 0, several), make([]variant, 0, variants)
	hugepage.Gather(whole)
	hugepage.Gather(parted)
	hugepage.Gather(spread)
	for slot, a := range v.steeredAnswers() {
		if a.placed == nil {
			continue
		}
		next, n := placedAnswers{answers: *a, places: *a.placed}, a.countVariants()
		if n <= fewVariants {
			whole = append(whole, placedWhole{placedAnswers: next})
			moved := &whole[len(whole)-1]
			moved.settle(moved.variants[:0])
			slot.answers.Store(&moved.answers)
			continue
		}
		parted = append(parted, next)
		moved := &parted[len(parted)-1]
		moved.settle(spread[len(spread):])
		spread = spread[:len(spread)+n]
		slot.answers.Store(&moved.answers)
	}
}

// settle moves the variants into the room, which is long enough.
func (a *placedAnswers) settle(room []variant) {
	a.placed = &a.places
	for f := range a.places {
		p := &a.places[f]
		from := len(room)
		room = append(room, p.variants...)
		p.variants = room[from:len(room):len(room)]
		if len(p.variants) > 0 {
			a.steered[f] = p.variants[0].family // which is nowhere else then
		}
	}
}

// countVariants is how many there are in both families.
func (a *answers) countVariants() (n int) {
	a.eachVariant(func(policy.Family, *variant) { n++ })
	return n
}

// steeredAnswers visits what the steered names answer.
func (v *View) steeredAnswers() iter.Seq2[*Slot, *answers] {
	return func(yield func(*Slot, *answers) bool) {
		for i := range v.slots {
			if slot := &v.slots[i]; slot.steered && !yield(slot, slot.answers.Load()) {
				return
			}
		}
	}
}

// count sums up what is counted of the steered names' answers.
func (v *View) count(of func(*answers) int) (sum int) {
	for _, a := range v.steeredAnswers() {
		sum += of(a)
	}
	return sum
}
