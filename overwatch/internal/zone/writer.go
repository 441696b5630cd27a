package zone

import (
	"fmt"
	"slices"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Writer gives steered names their answers. It belongs to one goroutine.
type Writer struct {
	schedules *policy.Scheduler
	edition   uint32
	fresh     []*Signature
}

// NewWriter makes a Writer.
func NewWriter() *Writer {
	return &Writer{schedules: policy.NewScheduler()}
}

// Steer makes a steered name of the view answer as was decided, answers distinct addresses (at most MaxAnswers)
// at a time, from the next query on. It says whether that changed anything: a decision like the last leaves every turn where it is.
// decisions is by policy.Family.
func (w *Writer) Steer(v *View, name string, decisions [2]policy.Decision, answers int) (changed bool, err error) {
	key, err := canonicalName(name)
	if err != nil {
		return false, err
	}
	slot := v.slot(key)
	if slot == nil || !slot.steered {
		return false, fmt.Errorf("name %s is not steered", name)
	}
	families := slot.answers.Load().steered
	for f, decision := range decisions {
		next := familyOf(policy.Family(f), decision, answers, w.schedules)
		if next.same(&families[f]) {
			continue
		}
		changed = true
		w.edition++
		next.edition = w.edition
		slot.sign(policy.Family(f), &next, max(decision.TTL, decision.FullTTL))
		w.fresh = append(w.fresh, next.sigs...)
		families[f] = next
	}
	if changed {
		slot.steer(families)
		slot.trim(families)
	}
	return changed, nil
}

// Fresh is the signatures of the answers that were given to names since the last call, so that they can be prepared.
func (w *Writer) Fresh() []*Signature {
	fresh := w.fresh
	w.fresh = nil
	return fresh
}

// trim forgets signatures of answers of long ago.
func (s *Slot) trim(families [2]family) {
	if s.proofs == nil {
		return
	}
	inUse := len(families[0].sigs) + len(families[1].sigs)
	s.proofs.known.trim(inUse, func(sig *Signature) bool {
		rtype := sig.rtype()
		return rtype == dns.TypeA && !slices.Contains(families[policy.IPv4].sigs, sig) ||
			rtype == dns.TypeAAAA && !slices.Contains(families[policy.IPv6].sigs, sig)
	})
}

// steer replaces what depends on health and keeps the rest.
func (s *Slot) steer(families [2]family) {
	next := answersWith(families, s.answers.Load().sets)
	next.any = next.pickAny(s.steered)
	s.answers.Store(next)
}
