package decisions

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// Decision is one answer that was given, with all that it followed from.
type Decision struct {
	ID      string // while this process runs
	At      time.Time
	Client  netip.Prefix // /24 or /48: no more of it is kept
	Steered zone.Steered
}

// Decide repeats the decision and finds the backend that came first; nil for an answer without any.
func (d *Decision) Decide() (policy.Decision, *policy.Candidate) {
	decision := d.Steered.Basis.Decide(d.Steered.Family, d.Steered.Client())
	return decision, selected(decision, d.Steered.Lead)
}

// selected is the candidate behind an address of the decision: of several ports of it, the first that answers.
func selected(decision policy.Decision, lead uint16) *policy.Candidate {
	if int(lead) >= len(decision.Due) {
		return nil
	}
	candidates := decision.Basis.Candidates
	for i := range candidates {
		if candidates[i].Address == decision.Due[lead].Address &&
			!slices.ContainsFunc(decision.Excluded, func(x policy.Excluded) bool { return x.Candidate == i }) {
			return &candidates[i]
		}
	}
	return nil
}

// Decisions is the sampled answers that are still kept, the newest first: at most RingSize per socket.
func (r *Recorder) Decisions() []Decision {
	var all []Decision
	for _, s := range r.list() {
		end := s.ring.next.Load()
		for n := end; n > end-min(end, RingSize); n-- {
			if d, ok := s.ring.get(n - 1); ok {
				d.ID = fmt.Sprintf("%d-%d", s.index, n)
				all = append(all, d)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Decision) int { return b.At.Compare(a.At) }) // and of one time, each socket's newest first
	return all
}

// Decision finds one by its id; ok is false for one that was never there or has been overwritten.
func (r *Recorder) Decision(id string) (d Decision, ok bool) {
	var index int
	var number uint64
	if n, err := fmt.Sscanf(id, "%d-%d", &index, &number); n != 2 || err != nil || fmt.Sprintf("%d-%d", index, number) != id || number == 0 {
		return Decision{}, false
	}
	sockets := r.list()
	if index < 0 || index >= len(sockets) {
		return Decision{}, false
	}
	d, ok = sockets[index].ring.get(number - 1)
	d.ID = id
	return d, ok
}
