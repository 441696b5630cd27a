package policy

import (
	"slices"
	"time"
)

// selection is the state of a decision: the remaining candidates.
type selection struct {
	candidates []Candidate
	rules      *Rules
	family     Family
	fence      string   // Rules.fence
	remaining  []int    // indexes of the remaining candidates, ascending
	reasons    []Reason // reason by candidate, empty for remaining ones; nil if reasons are not needed
}

// selectAll starts with all candidates. in is memory that is used if it is large enough.
func (s *selection) selectAll(in []int) {
	s.remaining = slices.Grow(in[:0], len(s.candidates))
	for i := range s.candidates {
		s.remaining = append(s.remaining, i)
	}
}

// filter excludes the candidates that fail the test, with a reason.
func (s *selection) filter(reason Reason, test func(*Candidate) bool) {
	s.remaining = slices.DeleteFunc(s.remaining, func(i int) bool {
		if test(&s.candidates[i]) {
			return false
		}
		if s.reasons != nil {
			s.reasons[i] = reason
		}
		return true
	})
}

// filterIfAny is filter if at least one candidate passes the test.
func (s *selection) filterIfAny(reason Reason, test func(*Candidate) bool) {
	if slices.ContainsFunc(s.remaining, func(i int) bool { return test(&s.candidates[i]) }) {
		s.filter(reason, test)
	}
}

// countKnown returns the number of candidates with known health.
func (s *selection) countKnown() (count int) {
	for i := range s.candidates {
		if !s.candidates[i].Unknown {
			count++
		}
	}
	return count
}

// countServing returns the number of candidates that may serve, after the others were excluded. It includes the
// candidates outside the geofence.
func (s *selection) countServing() int {
	if s.fence == "" {
		return len(s.remaining)
	}
	count := 0
	for i := range s.candidates {
		if s.candidates[i].MayServe {
			count++
		}
	}
	return count
}

// emptyIsFailure reports whether an empty selection is a failure rather than NODATA: the name, inside the geofence, has
// candidates of the family, or no candidates.
func (s *selection) emptyIsFailure() bool {
	empty := true
	for i := range s.candidates {
		c := &s.candidates[i]
		if s.isOutsideFence(c) {
			continue
		}
		if empty = false; s.rules.Accepts(s.family, c) {
			return true
		}
	}
	return empty
}

// hasBackends reports whether a region has backends of the family, regardless of health.
func (s *selection) hasBackends(region string) bool {
	return slices.ContainsFunc(s.candidates, func(c Candidate) bool {
		return c.Region == region && s.rules.Accepts(s.family, &c)
	})
}

// remainingRegions returns the sorted regions of the remaining candidates.
func (s *selection) remainingRegions() (found []string) {
	for _, i := range s.remaining {
		found = insertRegion(found, s.candidates[i].Region)
	}
	return found
}

// expectedRegions returns the sorted regions with candidates of the family, regardless of health.
func (s *selection) expectedRegions() (found []string) {
	for i := range s.candidates {
		if s.rules.Accepts(s.family, &s.candidates[i]) {
			found = insertRegion(found, s.candidates[i].Region)
		}
	}
	return found
}

// insertRegion inserts a region into a sorted list unless the list contains it.
func insertRegion(sorted []string, region string) []string {
	if at, known := slices.BinarySearch(sorted, region); !known {
		return slices.Insert(sorted, at, region)
	}
	return sorted
}

// selectFallback selects the candidates of the fallback answer. Without the rule last-healthy or all, it changes
// nothing. minimum is the number of healthy backends that the name requires; inside a geofence, one is required.
func (s *selection) selectFallback(minimum int) {
	choice := s.rules.OnAllDown
	if choice != LastHealthy && choice != All {
		return
	}
	clear(s.reasons)
	s.selectAll(nil)
	s.filterGeofence()
	s.filter(TakenOut, func(c *Candidate) bool { return !c.Forbidden })
	if choice == All {
		return
	}
	if s.fence != "" {
		minimum = 1
	}
	since := s.lastHealthyCutoff(minimum)
	s.filter(NotLastHealthy, func(c *Candidate) bool {
		return c.MayServe || !c.LastHealthy.IsZero() && !c.LastHealthy.Before(since)
	})
}

// lastHealthyCutoff returns the time after which a lost backend belongs to the last healthy ones: LastHealthyWindow
// before the last time with at least minimum healthy backends, as far as known.
func (s *selection) lastHealthyCutoff(minimum int) time.Time {
	var lost []time.Time // the latest first
	for _, i := range s.remaining {
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
	return lost[min(max(minimum, 1), len(lost))-1].Add(-LastHealthyWindow)
}
