package zone

import (
	"iter"

	"gslb.internal/overwatch/internal/answer/hugepage"
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
	hugepage.Gather(v.slots)
	hugepage.Gather(v.index.cells)
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

// gatherPlaced moves the answers that depend on the client.
func (v *View) gatherPlaced() {
	variants := make([]variant, 0, v.count(func(a *answers) (n int) {
		a.eachVariant(func(policy.Family, *variant) { n++ })
		return n
	}))
	together := make([]placedAnswers, 0, v.count(func(a *answers) int {
		if a.placed == nil {
			return 0
		}
		return 1
	}))
	hugepage.Gather(together)
	hugepage.Gather(variants)
	for slot, a := range v.steeredAnswers() {
		if a.placed == nil {
			continue
		}
		together = append(together, placedAnswers{answers: *a, places: *a.placed})
		moved := &together[len(together)-1]
		moved.placed = &moved.places
		for f := range moved.places {
			p := &moved.places[f]
			from := len(variants)
			variants = append(variants, p.variants...)
			p.variants = variants[from:len(variants):len(variants)]
			if len(p.variants) > 0 {
				moved.steered[f] = p.variants[0].family // which is nowhere else then
			}
		}
		slot.answers.Store(&moved.answers)
	}
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
