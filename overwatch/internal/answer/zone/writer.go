package zone

import (
	"fmt"
	"sync/atomic"

	"gslb.internal/overwatch/internal/policy"
)

// Writer gives steered names their answers. It belongs to one goroutine.
type Writer struct {
	*common
	fresh []*Signature

	// Room for what a name needs on the way, from name to name.
	choices [2]Choices
	some    []variant
	steered []candidates
}

// common is what Writers have together: names of equal shares hold one schedule, and no two answers have the same
// edition, whoever gave them.
type common struct {
	schedules *policy.Scheduler
	editions  atomic.Uint32 // that have been given
}

// NewWriter makes a Writer.
func NewWriter() *Writer {
	return &Writer{common: &common{schedules: policy.NewScheduler()}}
}

// Beside is another Writer, for another goroutine: both may be at work at once, also in one view, as long as they do
// not have the same name.
func (w *Writer) Beside() *Writer { return &Writer{common: w.common} }

// Steer makes a steered name of the view answer as was decided, answers distinct addresses (at most MaxAnswers) at a
// time, from the next query on. It says whether that changed anything: a decision like the last leaves every turn where
// it is. decisions is by policy.Family.
func (w *Writer) Steer(v *View, name string, decisions [2]policy.Decision, answers int) (changed bool, err error) {
	if decisions[0].Hashed || decisions[1].Hashed {
		return w.place(
			v,
			name,
			placed{alike: true},
			[2]Choices{{Decisions: decisions[:1]}, {Decisions: decisions[1:]}},
			answers,
		)
	}
	z, o, err := v.steered(name)
	if err != nil {
		return false, err
	}
	was := o.answers.Load()
	steered := append(w.steered[:0], was.steered...)
	w.steered, changed = steered, was.placed != nil
	for _, before := range was.byPlace() {
		v.turns.release(&before, new(placed))
	}
	for i := range steered {
		kind := steered[i].kind
		decision := &decisions[kind.Family]
		next := z.compile(kind, decision, answers, w.schedules)
		if was.placed == nil && next.same(&steered[i]) {
			continue
		}
		changed = true
		next.edition, next.turn = w.editions.Add(1), steered[i].turn
		o.sign(z, &next, max(decision.TTL, decision.FullTTL))
		w.note(next.signatures())
		steered[i] = next
	}
	basis := decisions[policy.IPv4].Basis
	if changed {
		w.give(z, o, steered, nil, basis)
	} else {
		o.steer(steered, nil, basis)
	}
	return changed, nil
}

// give gives a name answers that it did not have, with all the signatures that these need.
func (w *Writer) give(z *Zone, o *owner, steered []candidates, placed []placed, basis *policy.Basis) {
	o.steer(steered, placed, basis)
	if z.chain != nil {
		w.note(z.chain.find(o.name).denials(o.answers.Load()))
	}
	o.trim()
}

// steered finds a steered name.
func (v *View) steered(name string) (*Zone, *owner, error) {
	key, err := canonicalName(name)
	if err != nil {
		return nil, nil, err
	}
	z, o := v.owner(key)
	if o == nil || !o.steered {
		return nil, nil, fmt.Errorf("name %s is not steered", name)
	}
	return z, o, nil
}

// denials are the records that prove that the link's name has none of the types that it is steered with and has no
// record of now.
func (l *link) denials(a *answers) (found []*Signature) {
	for i := range a.steered {
		if number := a.steered[i].kind.Number; a.steered[i].state == noData && a.steeredAs(number) == i {
			found = append(found, l.deny(number))
		}
	}
	return found
}

func (w *Writer) note(sigs []*Signature) {
	w.fresh = append(w.fresh, sigs...)
}

// Fresh is the signatures of the answers that were given to names since the last call, so that they can be prepared.
func (w *Writer) Fresh() []*Signature {
	fresh := w.fresh
	w.fresh = nil
	return fresh
}

// trim forgets signatures of answers of long ago.
func (o *owner) trim() {
	if o.known == nil || o.known.few() {
		return
	}
	a := o.answers.Load()
	inUse := make(map[*Signature]bool)
	note := func(c *candidates) {
		for _, sig := range c.signatures() {
			inUse[sig] = true
		}
	}
	for i := range a.steered {
		note(&a.steered[i])
	}
	a.eachVariant(func(in *variant) { note(&in.candidates) })
	o.known.trim(len(inUse), func(sig *Signature) bool { return !inUse[sig] })
}

// steer replaces what depends on health and keeps the rest.
func (o *owner) steer(steered []candidates, placed []placed, basis *policy.Basis) {
	next := answersWith(steered, placed, o.answers.Load().sets)
	if basis != nil {
		next.basis, next.number = basis, basis.Number
	}
	next.any = next.pickAny()
	o.answers.Store(next)
}
