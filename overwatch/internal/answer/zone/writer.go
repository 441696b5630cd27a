package zone

import (
	"fmt"
	"sync/atomic"

	"gslb.internal/overwatch/internal/policy"
)

// Writer replaces the answers of steered names. It belongs to one goroutine.
type Writer struct {
	*common
	fresh []*Signature

	// Memory for one name, used again for the next.
	choices [2]Choices
	some    []variant
	steered []candidates
}

// common is the state that Writers share. Names of equal shares hold one schedule, and no two answers have the same
// edition.
type common struct {
	schedules *policy.Scheduler
	editions  atomic.Uint32 // that have been given
}

// NewWriter makes a Writer.
func NewWriter() *Writer {
	return &Writer{common: &common{schedules: policy.NewScheduler()}}
}

// Beside returns another Writer, for another goroutine. Both may work at once, also in one view, but never on the same
// name.
func (w *Writer) Beside() *Writer { return &Writer{common: w.common} }

// Steer makes a steered name of the view answer by its decisions from the next query on, with answers distinct
// addresses (at most MaxAnswers) at a time. decisions is by policy.Family. changed reports whether that made a
// difference: decisions like the last leave every turn as it is.
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

// give replaces the answers of a name by ones that it did not have, and notes the signatures of denial that they need.
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

// denials returns the signatures that prove that the link's name has no record now of types that it is steered with.
func (l *link) denials(a *answers) (found []*Signature) {
	for i := range a.steered {
		if number := a.steered[i].kind.Number; a.steered[i].state == noData && a.steeredAs(number) == i {
			found = append(found, l.deny(number))
		}
	}
	return found
}

// note keeps signatures for Fresh.
func (w *Writer) note(sigs []*Signature) {
	w.fresh = append(w.fresh, sigs...)
}

// Fresh returns the signatures of answers that names were given since the last call, so that they can be prepared.
func (w *Writer) Fresh() []*Signature {
	fresh := w.fresh
	w.fresh = nil
	return fresh
}

// trim drops the cached signatures of answers of long ago.
func (o *owner) trim() {
	if o.cache == nil || o.cache.few() {
		return
	}
	a := o.answers.Load()
	inUse := make(map[*Signature]bool)
	note := func(c *candidates) {
		for _, sig := range c.signatures() {
			inUse[sig] = true
		}
	}
	a.eachCandidates(note)
	o.cache.trim(len(inUse), func(sig *Signature) bool { return !inUse[sig] })
}

// steer replaces the answers that depend on health and keeps the rest.
func (o *owner) steer(steered []candidates, placed []placed, basis *policy.Basis) {
	next := answersWith(steered, placed, o.answers.Load().sets)
	next.basis, next.any = basis, next.pickAny()
	o.answers.Store(next)
}
