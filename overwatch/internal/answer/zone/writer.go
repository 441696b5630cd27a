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

	// Room for what place needs on the way, from name to name.
	choices [2]Choices
	some    []variant
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
	families := was.steered
	if was.placed != nil {
		families, changed = [2]family{}, true
		for f := range was.placed {
			v.turns.release(&was.placed[f], new(placed))
		}
	}
	for f, decision := range decisions {
		next := familyOf(policy.Family(f), decision, answers, w.schedules)
		if next.same(&families[f]) {
			continue
		}
		changed = true
		next.edition = w.editions.Add(1)
		o.sign(z, policy.Family(f), &next, max(decision.TTL, decision.FullTTL))
		w.note(next.signatures())
		families[f] = next
	}
	basis := decisions[policy.IPv4].Basis
	if changed {
		o.steer(families, nil, basis)
		w.note(z.denials(o, families))
		o.trim()
	} else {
		o.steer(families, nil, basis)
	}
	return changed, nil
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

// denials are the records that prove that a name of the zone has no address of a family.
func (z *Zone) denials(o *owner, families [2]family) []*Signature {
	if z.chain == nil {
		return nil
	}
	return z.chain.find(o.name).denials(families)
}

// denials are the records that prove that the link's name has no address of a family.
func (l *link) denials(families [2]family) (found []*Signature) {
	for f := range families {
		if families[f].state == noData {
			found = append(found, l.deny(typeOf(policy.Family(f))))
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
	note := func(_ policy.Family, in *variant) {
		for _, sig := range in.signatures() {
			inUse[sig] = true
		}
	}
	for f := range a.steered {
		note(policy.Family(f), &variant{family: a.steered[f]})
	}
	a.eachVariant(note)
	o.known.trim(len(inUse), func(sig *Signature) bool { return !inUse[sig] })
}

// steer replaces what depends on health and keeps the rest.
func (o *owner) steer(families [2]family, placed *[2]placed, basis *policy.Basis) {
	next := answersWith(families, placed, o.answers.Load().sets)
	if basis != nil {
		next.basis, next.number = basis, basis.Number
	}
	next.any = next.pickAny(o.steered)
	o.answers.Store(next)
}
