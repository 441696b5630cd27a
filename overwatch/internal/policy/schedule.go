package policy

import (
	"encoding/binary"
	"math"
	"slices"
)

// MaxPicks bounds the length of a schedule: picks over one cycle, all addresses of an answer counted. Where exact
// shares would need more, they are rounded to the nearest the bound allows, which puts each off by less than 1 in
// MaxPicks of all answers (1 in MaxPicks/answers, for names that answer with several addresses). More than MaxPicks
// candidates raise the bound to their number.
const MaxPicks = 8192

// Schedule is a cycle of answers over candidates 0 to n-1. The first address of the answers follows the shares exactly:
// from each of the starting positions on, after any number of answers, no candidate has led more than one answer more
// or less than its due share of them. The further addresses of an answer are those that would lead next.
//
// This is the chairman assignment problem (Tijdeman 1980): earliest deadline first, where the j-th answer of a
// candidate with share u may come no earlier than answer (j-1)/u and no later than j/u, keeps all within one.
type Schedule struct {
	size       int // addresses per answer
	candidates int
	length     uint32   // positions
	narrow     []uint8  // size candidates per position, where they all fit
	wide       []uint32 // otherwise
	starts     []uint32 // positions from which the promise holds; never empty

	// The number of the answer at each position, and the candidates of each answer; nil for one candidate per answer.
	answer  []uint16
	members [][]uint32
}

// newSchedule makes the schedule for the parts, each at least 1, with size distinct candidates per answer.
func newSchedule(parts []int, size int) *Schedule {
	size = max(min(size, len(parts)), 1)
	parts = reduce(parts, max(len(parts), MaxPicks/size))
	lead := assign(parts)
	s := &Schedule{size: size, candidates: len(parts), length: uint32(len(lead)), starts: starts(lead, parts)}
	s.wide = widen(lead, len(parts), size)
	if len(parts) <= math.MaxUint8+1 {
		s.narrow = make([]uint8, len(s.wide))
		for i, candidate := range s.wide {
			s.narrow[i] = uint8(candidate)
		}
		s.wide = nil
	}
	s.number()
	return s
}

// Len returns the number of positions, at least 1; after the last, the first follows.
func (s *Schedule) Len() uint32 { return s.length }

// Size returns the number of addresses per answer, at least 1.
func (s *Schedule) Size() int { return s.size }

// Pick returns the k-th candidate, counted from 0, of the answer at a position below Len. Those of one position are
// distinct, and the 0th leads.
func (s *Schedule) Pick(position uint32, k int) int {
	i := int(position)*s.size + k
	if s.narrow != nil {
		return int(s.narrow[i])
	}
	return int(s.wide[i])
}

// Answers returns the number of distinct answers. The order of their candidates does not count.
func (s *Schedule) Answers() int {
	if s.answer == nil {
		return s.candidates
	}
	return len(s.members)
}

// Answer returns the number, from 0, of the answer at a position.
func (s *Schedule) Answer(position uint32) int {
	if s.answer == nil {
		return s.Pick(position, 0)
	}
	return int(s.answer[position])
}

// Members returns the candidates of the answer with a number. The caller must not change the slice.
func (s *Schedule) Members(answer int) []uint32 {
	if s.answer == nil {
		return []uint32{uint32(answer)}
	}
	return s.members[answer]
}

// number gives each distinct answer a number.
func (s *Schedule) number() {
	if s.size == 1 {
		return
	}
	seen := make(map[string]uint16)
	s.answer = make([]uint16, s.length)
	var key []byte
	for position := range s.length {
		members := make([]uint32, s.size)
		for k := range members {
			members[k] = uint32(s.Pick(position, k))
		}
		slices.Sort(members)
		key = key[:0]
		for _, m := range members {
			key = binary.BigEndian.AppendUint32(key, m)
		}
		n, ok := seen[string(key)]
		if !ok {
			n = uint16(len(s.members))
			seen[string(key)] = n
			s.members = append(s.members, members)
		}
		s.answer[position] = n
	}
}

// Start returns one of the starting positions, chosen by random, so that neither a restart nor a new schedule favours
// the candidate at position 0.
func (s *Schedule) Start(random uint32) uint32 {
	return s.starts[random%uint32(len(s.starts))]
}

// widen gives each position its leading candidate and the next size-1 others in the cycle.
func widen(lead []uint32, candidates, size int) []uint32 {
	if size == 1 {
		return lead
	}
	// Walking backwards, recent holds the candidates in the order in which they lead from here on.
	recent := make([]uint32, 0, candidates)
	picks := make([]uint32, len(lead)*size)
	for t := 2*len(lead) - 1; t >= 0; t-- {
		recent = toFront(recent, lead[t%len(lead)])
		if t < len(lead) {
			copy(picks[t*size:(t+1)*size], recent)
		}
	}
	return picks
}

// toFront moves x, or inserts it, at the front of list.
func toFront(list []uint32, x uint32) []uint32 {
	at := len(list)
	for i, have := range list {
		if have == x {
			at = i
			break
		}
	}
	if at == len(list) {
		list = append(list, x)
	}
	copy(list[1:at+1], list[:at])
	list[0] = x
	return list
}
