package zone

import (
	"fmt"
	"slices"
	"sync/atomic"

	"gslb.internal/overwatch/internal/policy"
)

// Writer replaces the answers of load-balanced names. It must be used by one goroutine at a time.
type Writer struct {
	*sharedState
	newSignatures []*Signature

	// Buffers, reused for each name.
	decisions [2]LocationDecisions
	variants  []variant
	balanced  []candidates
}

// sharedState is the state that Writers share. Names with equal shares use one schedule. Each set of candidates has a
// unique generation.
type sharedState struct {
	schedules   *policy.ScheduleCache
	generations atomic.Uint32 // last assigned generation
}

// NewWriter returns a Writer.
func NewWriter() *Writer {
	return &Writer{sharedState: &sharedState{schedules: policy.NewScheduleCache()}}
}

// Fork returns another Writer for another goroutine. Both may work concurrently, even in one view, but never on the
// same name.
func (w *Writer) Fork() *Writer { return &Writer{sharedState: w.sharedState} }

// SetAnswers replaces the answers of a load-balanced name from the next query on. decisions is indexed by
// policy.Family. answers is the number of distinct addresses per answer, at most MaxAnswers. changed is false for
// decisions equal to the last decisions; the rotation then continues. An invalid or static name is an error.
func (w *Writer) SetAnswers(v *View, name string, decisions [2]policy.Decision, answers int) (changed bool, err error) {
	if decisions[0].Hashed || decisions[1].Hashed {
		return w.setVariantAnswers(
			v,
			name,
			variantSet{sameForAll: true},
			[2]LocationDecisions{{Decisions: decisions[:1]}, {Decisions: decisions[1:]}},
			answers,
		)
	}
	z, o, err := v.findBalanced(name)
	if err != nil {
		return false, err
	}
	was := o.answers.Load()
	balanced := append(w.balanced[:0], was.balanced...)
	w.balanced, changed = balanced, was.variants != nil
	for _, before := range was.variantSets() {
		v.rotations.freeRemoved(&before, new(variantSet))
	}
	for i := range balanced {
		kind := balanced[i].kind
		decision := &decisions[kind.Family]
		next := z.compileCandidates(kind, decision, answers, w.schedules)
		if was.variants == nil && next.equal(&balanced[i]) {
			continue
		}
		changed = true
		next.generation, next.rotationIndex = w.generations.Add(1), balanced[i].rotationIndex
		o.signCandidates(z, &next, max(decision.TTL, decision.FullTTL))
		w.addNewSignatures(next.signatures())
		balanced[i] = next
	}
	input := decisions[policy.IPv4].Input
	if changed {
		w.storeChanged(z, o, balanced, nil, input)
	} else {
		o.storeAnswers(balanced, nil, input)
	}
	return changed, nil
}

// storeChanged stores changed answers of a name, and records the denial signatures that the answers need.
func (w *Writer) storeChanged(z *Zone, o *owner, balanced []candidates, variants []variantSet,
	input *policy.DecisionInput) {
	o.storeAnswers(balanced, variants, input)
	if z.chain != nil {
		w.addNewSignatures(z.chain.findLink(o.name).currentDenials(o.answers.Load()))
	}
	o.trimCache()
}

// findBalanced returns a load-balanced name and its zone.
func (v *View) findBalanced(name string) (*Zone, *owner, error) {
	key, err := canonicalName(name)
	if err != nil {
		return nil, nil, err
	}
	z, o := v.findOwner(key)
	if o == nil || !o.balanced {
		return nil, nil, fmt.Errorf("name %s is not load-balanced", name)
	}
	return z, o, nil
}

// currentDenials returns the denial signatures for the load-balanced types that currently have no record for some
// clients.
func (l *link) currentDenials(a *answers) (found []*Signature) {
	for i := range a.balanced {
		if number := a.balanced[i].kind.Number; a.lacksRecords(i) && a.indexOfType(number) == i {
			found = append(found, l.denialFor(number))
		}
	}
	return found
}

// lacksRecords reports whether some clients receive no data for the type at an index of a.balanced.
func (a *answers) lacksRecords(index int) bool {
	return a.balanced[index].state == noData || a.variants != nil &&
		slices.ContainsFunc((*a.variants)[index].variants, func(in variant) bool { return in.state == noData })
}

// addNewSignatures records signatures for TakeNewSignatures.
func (w *Writer) addNewSignatures(sigs []*Signature) {
	w.newSignatures = append(w.newSignatures, sigs...)
}

// TakeNewSignatures returns the signatures of the answers that changed since the last call, so that the caller can
// prepare them.
func (w *Writer) TakeNewSignatures() []*Signature {
	fresh := w.newSignatures
	w.newSignatures = nil
	return fresh
}

// trimCache removes the cached signatures of old answers.
func (o *owner) trimCache() {
	if o.cache == nil || o.cache.isSmall() {
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

// storeAnswers replaces the load-balanced answers and retains the static records.
func (o *owner) storeAnswers(balanced []candidates, variants []variantSet, input *policy.DecisionInput) {
	next := newAnswers(balanced, variants, o.answers.Load().sets)
	next.input, next.any = input, next.pickAny()
	o.answers.Store(next)
}
