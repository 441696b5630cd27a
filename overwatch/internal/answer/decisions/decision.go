package decisions

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// Decision is one sampled answer, with the basis of its decision.
type Decision struct {
	ID      string // unique in this process
	At      time.Time
	Client  netip.Prefix // the first 24 or 48 bits of the client's address
	Steered zone.Selection
}

// Decide repeats the decision and returns the backend of the answer's first address or name; nil for an answer without
// any.
func (d *Decision) Decide() (policy.Decision, *policy.Candidate) {
	decision := d.Steered.Input.Decide(d.Steered.Family, d.Steered.ClientLocation())
	return decision, selected(decision, d.Steered.Lead)
}

// selected returns the candidate behind the address or name at index lead of the decision, nil for none.
func selected(decision policy.Decision, lead uint16) *policy.Candidate {
	if int(lead) >= len(decision.Due) {
		return nil
	}
	i := decision.Behind(decision.Due[lead])
	if i < 0 {
		return nil
	}
	return &decision.Basis.Candidates[i]
}

// Decisions returns the sampled answers that are still kept, the newest first: at most RingSize of each socket.
func (r *Recorder) Decisions() []Decision {
	var all []Decision
	for _, s := range r.list() {
		all = append(all, s.kept()...)
	}
	slices.SortStableFunc(all, func(a, b Decision) int { return b.At.Compare(a.At) }) // each socket's newest stay first
	return all
}

// Decision returns the sampled answer with an id. It returns false if there was none, or it has been overwritten.
func (r *Recorder) Decision(id string) (Decision, bool) {
	for _, s := range r.list() {
		kept := s.kept()
		if i := slices.IndexFunc(kept, func(d Decision) bool { return d.ID == id }); i >= 0 {
			return kept[i], true
		}
	}
	return Decision{}, false
}

// decisionID returns the id of a socket's sample, counted from 1.
func decisionID(socket int, sample uint64) string { return fmt.Sprintf("%d-%d", socket, sample) }
