package policy

import (
	"slices"
	"time"
)

// selection narrows the candidates of one decision, step by step.
type selection struct {
	candidates []Candidate
	rules      *Rules
	family     Family
	in         []int    // the indices of those that are left, in their order
	why        []Reason // by candidate: reason for leaving it out, empty while it is in; nil: not asked for
}

// selectAll starts with every candidate. in is memory to use if it is enough.
func (s *selection) selectAll(in []int) {
	s.in = slices.Grow(in[:0], len(s.candidates))
	for i := range s.candidates {
		s.in = append(s.in, i)
	}
}

// keep leaves out the candidates that fail the test, for the given reason.
func (s *selection) keep(reason Reason, test func(*Candidate) bool) {
	s.in = slices.DeleteFunc(s.in, func(i int) bool {
		if test(&s.candidates[i]) {
			return false
		}
		if s.why != nil {
			s.why[i] = reason
		}
		return true
	})
}

// prefer leaves out the candidates that fail the test, unless all that are left do.
func (s *selection) prefer(reason Reason, test func(*Candidate) bool) {
	if slices.ContainsFunc(s.in, func(i int) bool { return test(&s.candidates[i]) }) {
		s.keep(reason, test)
	}
}

// known counts the candidates of whose health something is known.
func (s *selection) known() (count int) {
	for i := range s.candidates {
		if !s.candidates[i].Unknown {
			count++
		}
	}
	return count
}

// emptyIsFailure reports whether it is a failure and not NODATA if no candidate answers: the name has candidates of the
// family, or none at all.
func (s *selection) emptyIsFailure() bool {
	return len(s.candidates) == 0 ||
		slices.ContainsFunc(s.candidates, func(c Candidate) bool { return s.rules.Takes(s.family, &c) })
}

// expects reports whether a region has backends of the family, whatever their health.
func (s *selection) expects(region string) bool {
	return slices.ContainsFunc(s.candidates, func(c Candidate) bool {
		return c.Region == region && s.rules.Takes(s.family, &c)
	})
}

// regions returns the regions of the candidates that are left, in the order of names.
func (s *selection) regions() (found []string) {
	for _, i := range s.in {
		found = insertRegion(found, s.candidates[i].Region)
	}
	return found
}

// expected returns the regions that have candidates of the family, whatever their health, in the order of names.
func (s *selection) expected() (found []string) {
	for i := range s.candidates {
		if s.rules.Takes(s.family, &s.candidates[i]) {
			found = insertRegion(found, s.candidates[i].Region)
		}
	}
	return found
}

func insertRegion(sorted []string, region string) []string {
	if at, known := slices.BinarySearch(sorted, region); !known {
		return slices.Insert(sorted, at, region)
	}
	return sorted
}

// lastResort begins anew with the candidates that answer when none may serve, or fewer than the minimum.
func (s *selection) lastResort(minimum int) {
	choice := s.rules.OnAllDown
	if choice != LastHealthy && choice != All {
		return
	}
	clear(s.why)
	s.selectAll(nil)
	s.keep(TakenOut, func(c *Candidate) bool { return !c.Forbidden })
	if choice == All {
		return
	}
	since := s.enoughSince(minimum)
	s.keep(NotLastResort, func(c *Candidate) bool {
		return c.MayServe || !c.LastHealthy.IsZero() && !c.LastHealthy.Before(since)
	})
}

// enoughSince returns the time from which on a lost backend counts as healthy last: LastHealthySpan before the minimum
// was last reached, as far as that is known.
func (s *selection) enoughSince(minimum int) time.Time {
	var lost []time.Time // the latest first
	for _, i := range s.in {
		switch c := &s.candidates[i]; {
		case c.MayServe:
			minimum--
		case !c.LastHealthy.IsZero():
			lost = append(lost, c.LastHealthy)
		}
	}
	if len(lost) == 0 {
		return time.Time{}
	}
	slices.SortFunc(lost, func(a, b time.Time) int { return b.Compare(a) })
	return lost[min(max(minimum, 1), len(lost))-1].Add(-LastHealthySpan)
}
