package zone

import (
	"hash/maphash"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// MaxFetch is the number of questions that Fetch looks at.
const MaxFetch = 32

// fetchFrom is the size of an index, in cells, from which on Fetch pays. A smaller one stays in the nearer caches.
const fetchFrom = 1 << 11

// Fetch reads the memory that the answers to several questions lie in, so that Append finds it in the cache. With many
// names an answer mostly waits for memory: for the cell of the index, then the slot, its answers, and a signature, each
// of which leads to the next. Fetch takes each of these steps for all questions at once, in loops so short that the
// processor has many reads under way. It changes no answer. Its turns must be those of the Append that follows.
func (v *View) Fetch(questions []*Question, turns *Turns) {
	if len(questions) < 2 || len(v.index.cells) < fetchFrom {
		return
	}
	questions = questions[:min(len(questions), MaxFetch)]
	var hashes [MaxFetch]uint64
	for i, q := range questions {
		hashes[i] = maphash.Bytes(seed, q.Name)
	}
	sum, mask := uint32(0), uint64(len(v.index.cells)-1)
	for _, hash := range hashes[:len(questions)] {
		sum ^= v.index.cells[hash&mask].slot
	}
	var slots [MaxFetch]*Slot // nil where there is no such name
	for i := range questions {
		slots[i] = v.candidate(hashes[i])
	}
	for _, slot := range slots {
		if slot != nil {
			sum ^= slot.turn
		}
	}
	for _, slot := range slots {
		if slot != nil && slot.steered {
			sum ^= slot.answers.Load().number ^ turns.peek(slot.turn).position
		}
	}
	turns.fetched ^= sum ^ fetchSignatures(questions, &slots, turns)
}

// fetchSignatures reads the signatures of the answers whose turn it is.
func fetchSignatures(questions []*Question, slots *[MaxFetch]*Slot, turns *Turns) (sum uint32) {
	var room [MaxFetch]*Signature
	signatures := room[:0]
	for i, q := range questions {
		if slots[i] == nil || !q.DO || !slots[i].steered || slots[i].zone.signer == nil {
			continue
		}
		which := policy.IPv4
		if q.Type == dns.TypeAAAA {
			which = policy.IPv6
		}
		f, turn := &slots[i].answers.Load().steered[which], turns.peek(slots[i].turn+uint32(which))
		if f.state != answering || f.schedule.Len() > 1 && !turn.of(f) {
			continue
		}
		if signature := f.signature(f.schedule.Answer(turn.position)); signature != nil {
			signatures = append(signatures, signature)
		}
	}
	for _, signature := range signatures {
		if signature.made.Load() != nil {
			sum++
		}
	}
	for _, signature := range signatures {
		if m := signature.made.Load(); m != nil {
			sum ^= m.epoch ^ uint32(m.near[len(m.near)-1])
		}
	}
	return sum
}

// candidate returns the slot of the name with this hash, or of one with nearly the same; nil if there is none.
func (v *View) candidate(hash uint64) *Slot {
	mask := uint32(len(v.index.cells) - 1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		switch c := v.index.cells[at]; {
		case c.slot == 0:
			return nil
		case c.tag == uint32(hash>>32):
			return &v.slots[c.slot-1]
		}
	}
}
