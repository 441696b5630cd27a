package zone

import (
	"fmt"
	"sync/atomic"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Writer gives steered names their answers. It belongs to one goroutine.
type Writer struct {
	*common
	bulk  bool // fresh is of no interest
	fresh []*Signature

	// Room for what place needs on the way, from name to name.
	choices [2]Choices
	some    []variant
}

// common is what Writers have together: names of equal shares hold one schedule, and no two answers have the same edition,
// whoever gave them.
type common struct {
	schedules *policy.Scheduler
	editions  atomic.Uint32 // that have been given
}

// NewWriter makes a Writer.
func NewWriter() *Writer {
	return &Writer{common: &common{schedules: policy.NewScheduler()}}
}

// Beside is another Writer, for another goroutine: both may be at work at once, also in one view, as long as they do not have
// the same name. It is for giving a view all its answers, whose Signatures are to be prepared then: it has none to tell of in Fresh.
func (w *Writer) Beside() *Writer { return &Writer{common: w.common, bulk: true} }

// Steer makes a steered name of the view answer as was decided, answers distinct addresses (at most MaxAnswers)
// at a time, from the next query on. It says whether that changed anything: a decision like the last leaves every turn where it is.
// decisions is by policy.Family.
func (w *Writer) Steer(v *View, name string, decisions [2]policy.Decision, answers int) (changed bool, err error) {
	if decisions[0].Hashed || decisions[1].Hashed {
		return w.place(v, name, placed{alike: true}, [2]Choices{{Decisions: decisions[:1]}, {Decisions: decisions[1:]}}, answers)
	}
	slot, err := v.steeredSlot(name)
	if err != nil {
		return false, err
	}
	was := slot.answers.Load()
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
		slot.sign(policy.Family(f), &next, max(decision.TTL, decision.FullTTL))
		w.note(next.signatures())
		families[f] = next
	}
	basis := decisions[policy.IPv4].Basis
	if changed {
		slot.steer(families, nil, basis)
		w.note(slot.denials(families))
		slot.trim()
	} else {
		slot.steer(families, nil, basis)
	}
	return changed, nil
}

// steeredSlot finds a steered name.
func (v *View) steeredSlot(name string) (*Slot, error) {
	key, err := canonicalName(name)
	if err != nil {
		return nil, err
	}
	slot := v.slot(key)
	if slot == nil || !slot.steered {
		return nil, fmt.Errorf("name %s is not steered", name)
	}
	return slot, nil
}

// denials are the records that prove that the name has no address of a family now.
func (s *Slot) denials(families [2]family) (found []*Signature) {
	for f := range families {
		if families[f].state == noData && s.proofs != nil && s.proofs.link != nil {
			found = append(found, s.proofs.link.deny(typeOf(policy.Family(f))))
		}
	}
	return found
}

func (w *Writer) note(sigs []*Signature) {
	if !w.bulk {
		w.fresh = append(w.fresh, sigs...)
	}
}

// Fresh is the signatures of the answers that were given to names since the last call, so that they can be prepared.
func (w *Writer) Fresh() []*Signature {
	fresh := w.fresh
	w.fresh = nil
	return fresh
}

// trim forgets signatures of answers of long ago.
func (s *Slot) trim() {
	if s.proofs == nil || s.proofs.known.few() {
		return
	}
	a := s.answers.Load()
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
	s.proofs.known.trim(len(inUse), func(sig *Signature) bool {
		rtype := sig.rtype()
		return (rtype == dns.TypeA || rtype == dns.TypeAAAA) && !inUse[sig]
	})
}

// steer replaces what depends on health and keeps the rest.
func (s *Slot) steer(families [2]family, placed *[2]placed, basis *policy.Basis) {
	next := answersWith(families, placed, s.answers.Load().sets)
	if basis != nil {
		next.basis, next.number = basis, basis.Number
	}
	next.any = next.pickAny(s.steered)
	s.answers.Store(next)
}
