package policy // inside: it uses assignPositions and newSchedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// leadsWithin fails the test if, from start on, the number of answers of a candidate differs from its share by more
// than one.
func leadsWithin(t *testing.T, s *Schedule, parts []int, start uint32) {
	t.Helper()
	sum := 0
	for _, n := range parts {
		sum += n
	}
	led := make([]int, len(parts))
	for n := 1; n <= 2*sum; n++ {
		led[s.Pick((start+uint32(n)-1)%s.Len(), 0)]++
		for i, w := range parts {
			if off := led[i]*sum - n*w; off > sum || off < -sum {
				t.Fatalf("parts %v from %d: after %d answers candidate %d led %d, due %d/%d", parts, start, n, i, led[i], n*w, sum)
			}
		}
	}
}

func randomParts(random *rand.Rand) []int {
	parts := make([]int, 1+random.IntN(12))
	for i := range parts {
		parts[i] = 1 + random.IntN(60)
	}
	return parts
}

func TestSchedule_EveryCandidateStaysWithinOneAnswerOfItsDueShare(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cases := [][]int{{1}, {1, 1, 1}, {3, 1}, {1, 2, 3}, {1000, 1, 1, 1}, {997, 991, 983}, {100, 50, 25, 25}}
	for range 200 {
		cases = append(cases, randomParts(random))
	}
	for _, parts := range cases {
		s := newSchedule(parts, 1)
		for _, start := range s.starts {
			leadsWithin(t, s, parts, start)
		}
	}
}

func TestSchedule_FindsEveryStartFromWhichThePromiseHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		parts := reduceParts(randomParts(random), MaxPicks)
		lead := assignPositions(parts)
		var want []uint32
		for start := range lead {
			if holdsFrom(lead, parts, start) {
				want = append(want, uint32(start))
			}
		}
		if got := findStarts(lead, parts); len(want) <= maxStarts && !slices.Equal(got, want) {
			t.Fatalf("parts %v: starts %v, by trying each %v", parts, got, want)
		}
	}
}

// holdsFrom counts the selections, and reports whether each part stays within one position of its share at every step
// from a start on.
func holdsFrom(lead []uint32, parts []int, start int) bool {
	led := make([]int, len(parts))
	for n := 1; n <= len(lead); n++ {
		led[lead[(start+n-1)%len(lead)]]++
		for i, w := range parts {
			if off := led[i]*len(lead) - n*w; off > len(lead) || off < -len(lead) {
				return false
			}
		}
	}
	return true
}

func TestSchedule_EqualSharesMayStartAnywhere(t *testing.T) {
	if s := newSchedule([]int{1, 1, 1, 1}, 1); len(s.starts) != 4 {
		t.Errorf("starts %v, want all 4 positions", s.starts)
	}
}

// A Rendezvous selects a position of such a schedule.
func TestSchedule_WithEqualSharesTheNthPositionIsTheNths(t *testing.T) {
	for n := 1; n < 300; n += 7 {
		for _, size := range []int{1, 3} {
			s := newSchedule(slices.Repeat([]int{1}, n), size)
			for position := range s.Len() {
				if int(s.Len()) != n || s.Pick(position, 0) != int(position) {
					t.Fatalf("of %d, %d at a time: position %d of %d is led by %d", n, size, position, s.Len(), s.Pick(position, 0))
				}
			}
		}
	}
}

func TestSchedule_SeveralAddressesAreDistinctAndTheLeadStaysExact(t *testing.T) {
	for _, size := range []int{2, 3, 5, 9} {
		parts := []int{5, 3, 1, 1, 7}
		s := newSchedule(parts, size)
		for position := range s.Len() {
			seen := map[int]bool{}
			for k := range s.Size() {
				seen[s.Pick(position, k)] = true
			}
			if want := min(size, len(parts)); len(seen) != want {
				t.Fatalf("size %d, position %d: %d distinct addresses, want %d", size, position, len(seen), want)
			}
		}
		leadsWithin(t, s, parts, 0)
	}
}

func TestSchedule_IsBoundedAndRoundsToWithinOneInMaxPicks(t *testing.T) {
	parts := []int{9973, 9967, 9949, 9941, 1}
	sum := 0
	for _, n := range parts {
		sum += n
	}
	s := newSchedule(parts, 1)
	if s.Len() > MaxPicks {
		t.Fatalf("%d positions, at most %d", s.Len(), MaxPicks)
	}
	led := make([]int, len(parts))
	for position := range s.Len() {
		led[s.Pick(position, 0)]++
	}
	for i, n := range parts {
		exact := float64(n) / float64(sum) * MaxPicks
		if off := float64(led[i]) - exact; off > 1 || off < -1 {
			t.Errorf("candidate %d: %d of %d positions, exactly %.2f", i, led[i], s.Len(), exact)
		}
	}
}

func TestSchedule_MoreCandidatesThanTheBoundAllServe(t *testing.T) {
	parts := make([]int, MaxPicks+10)
	for i := range parts {
		parts[i] = 1 + i%7
	}
	s := newSchedule(parts, 1)
	seen := map[int]bool{}
	for position := range s.Len() {
		seen[s.Pick(position, 0)] = true
	}
	if len(seen) != len(parts) {
		t.Errorf("%d candidates lead, want %d", len(seen), len(parts))
	}
}

func TestScheduler_NamesWithTheSameSharesHoldOneSchedule(t *testing.T) {
	s := NewScheduleCache()
	one := s.Get([]Member{{Parts: 100}, {Parts: 300}}, 1)
	if other := s.Get([]Member{{Parts: 7}, {Parts: 21}}, 1); other != one {
		t.Error("1:3 was made twice")
	}
	if other := s.Get([]Member{{Parts: 3}, {Parts: 1}}, 1); other == one {
		t.Error("3:1 got the schedule of 1:3")
	}
	if other := s.Get([]Member{{Parts: 1}, {Parts: 3}}, 2); other == one {
		t.Error("two addresses per answer got the schedule for one")
	}
}

func BenchmarkSchedule(b *testing.B) {
	for _, parts := range [][]int{{1, 2, 3, 4}, {997, 991, 983, 977}} {
		b.Run(fmt.Sprint(parts), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newSchedule(parts, 1)
			}
		})
	}
}
