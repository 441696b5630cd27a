package decisions

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// Decision is one sampled answer, with its decision input.
type Decision struct {
	ID        string // unique, also across restarts; see SocketRecorder.AppendID
	Number    uint64 // number of the answer within its socket, from 1
	At        time.Time
	Client    netip.Prefix // the first 24 or 48 bits of the client's address
	Selection zone.Selection
	took      time.Duration // time to make the answer
}

// Repeat repeats the decision. It returns the candidate of the answer's first address or alias target; nil if the
// answer has none.
func (d *Decision) Repeat() (policy.Decision, *policy.Candidate) {
	decision := d.Selection.Input.Decide(d.Selection.Family, d.Selection.ClientLocation())
	return decision, leadCandidate(decision, d.Selection.Lead)
}

// leadCandidate returns the candidate of the address or target at index lead of the decision; nil if lead is out of
// range.
func leadCandidate(decision policy.Decision, lead uint16) *policy.Candidate {
	if int(lead) >= len(decision.Members) {
		return nil
	}
	i := decision.CandidateOf(decision.Members[lead])
	if i < 0 {
		return nil
	}
	return &decision.Input.Candidates[i]
}

// Decisions returns the sampled answers, the latest first: at most RingSize of each socket.
func (r *Recorder) Decisions() []Decision {
	var all []Decision
	for _, s := range r.socketList() {
		all = append(all, s.storedSamples()...)
	}
	// A stable sort preserves the order within a socket.
	slices.SortStableFunc(all, func(a, b Decision) int { return b.At.Compare(a.At) })
	return all
}

// Decision returns the sampled answer with an id. It returns false if the id is unknown or the sample was overwritten.
func (r *Recorder) Decision(id string) (Decision, bool) {
	for _, s := range r.socketList() {
		samples := s.storedSamples()
		if i := slices.IndexFunc(samples, func(d Decision) bool { return d.ID == id }); i >= 0 {
			return samples[i], true
		}
	}
	return Decision{}, false
}

// AppendID appends the id of a load-balanced answer: the start of the process in Unix time, the index of the socket,
// and the number of the answer. A nil SocketRecorder appends nothing.
func (s *SocketRecorder) AppendID(out []byte, number uint64) []byte {
	if s == nil {
		return out
	}
	out = strconv.AppendInt(out, s.recorder.started.Unix(), 10)
	out = strconv.AppendInt(append(out, '-'), int64(s.index), 10)
	return strconv.AppendUint(append(out, '-'), number, 10)
}
