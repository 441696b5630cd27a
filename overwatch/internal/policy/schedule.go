package policy

import (
	"encoding/binary"
	"math"
	"slices"
)

// MaxPicks is the maximum length of a schedule: the number of addresses in all answers of a cycle. If exact shares need
// more, they are rounded to the nearest possible share; the error of each share is below 1/MaxPicks, or
// answers/MaxPicks for names with several addresses per answer. More than MaxPicks candidates raise the bound to their
// number.
const MaxPicks = 8192

// Schedule is a cycle of answers of the candidates 0 to n-1. The first addresses follow the shares exactly: starting
// from a start position, the number of answers of each candidate always differs from its exact share by at most one.
// The further addresses of an answer are the next first addresses. A Schedule is immutable.
//
// This is the chairman assignment problem (Tijdeman 1980). Earliest deadline first solves it, if the j-th answer of a
// candidate with share u is not before answer (j-1)/u and not after j/u.
type Schedule struct {
	size       int      // addresses per answer
	candidates int      // number of candidates
	length     uint32   // number of positions
	narrow     []uint8  // size candidates per position, if all candidates fit into uint8
	wide       []uint32 // size candidates per position, otherwise
	starts     []uint32 // start positions; never empty

	// Number of the answer by position, and candidates by number of the answer; nil for one candidate per answer.
	answer  []uint16
	members [][]uint32
}

// newSchedule returns the schedule for parts, each at least 1, with size distinct candidates per answer.
func newSchedule(parts []int, size int) *Schedule {
	size = max(min(size, len(parts)), 1)
	parts = reduceParts(parts, max(len(parts), MaxPicks/size))
	lead := assignPositions(parts)
	s := &Schedule{size: size, candidates: len(parts), length: uint32(len(lead)), starts: findStarts(lead, parts)}
	s.wide = expandAnswers(lead, len(parts), size)
	if len(parts) <= math.MaxUint8+1 {
		s.narrow = make([]uint8, len(s.wide))
		for i, candidate := range s.wide {
			s.narrow[i] = uint8(candidate)
		}
		s.wide = nil
	}
	s.numberAnswers()
	return s
}

// Len returns the number of positions, at least 1. The first position follows the last.
func (s *Schedule) Len() uint32 { return s.length }

// Size returns the number of addresses per answer, at least 1.
func (s *Schedule) Size() int { return s.size }

// Pick returns the k-th candidate, counted from 0, of the answer at a position below Len. The candidates of a position
// are distinct.
func (s *Schedule) Pick(position uint32, k int) int {
	i := int(position)*s.size + k
	if s.narrow != nil {
		return int(s.narrow[i])
	}
	return int(s.wide[i])
}

// Answers returns the number of distinct answers, regardless of the order of their candidates.
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

// AnswerMembers returns the candidates of an answer by its number. The caller must not change the slice.
func (s *Schedule) AnswerMembers(answer int) []uint32 {
	if s.answer == nil {
		return []uint32{uint32(answer)}
	}
	return s.members[answer]
}

// numberAnswers assigns a number to each distinct answer.
func (s *Schedule) numberAnswers() {
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

// Start returns a start position selected by random, so that restarts and new schedules do not favor the candidate at
// position 0.
func (s *Schedule) Start(random uint32) uint32 {
	return s.starts[random%uint32(len(s.starts))]
}

// expandAnswers returns the candidates of each position: the first candidate and the next size-1 other first
// candidates.
func expandAnswers(lead []uint32, candidates, size int) []uint32 {
	if size == 1 {
		return lead
	}
	// The loop runs backwards; recent contains the candidates in the order of their next first positions.
	recent := make([]uint32, 0, candidates)
	picks := make([]uint32, len(lead)*size)
	for t := 2*len(lead) - 1; t >= 0; t-- {
		recent = moveToFront(recent, lead[t%len(lead)])
		if t < len(lead) {
			copy(picks[t*size:(t+1)*size], recent)
		}
	}
	return picks
}

// moveToFront moves x to the front of list, and inserts it if it is missing.
func moveToFront(list []uint32, x uint32) []uint32 {
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
