package policy

import (
	"slices"
	"strings"
)

// requiredInRegion returns the number of serving backends that a region with a number of backends needs: all of its
// backends, and at most the threshold of the algorithm.
func (r *Rules) requiredInRegion(backends int) int {
	if r.Algorithm != Failover {
		return 1
	}
	return max(min(r.Parameters().FailoverThreshold, backends), 1)
}

// regionRank orders regions with remaining candidates by their ability to serve.
type regionRank int

const (
	regionMissing   regionRank = iota
	regionPresent              // has candidates that cannot serve or are drained
	regionServes               // has candidates that serve
	regionHasEnough            // has as many candidates that serve as it needs
)

// filterAwaitingFailback excludes the regions that await failback, unless they can serve better than all other regions.
func (s *selection) filterAwaitingFailback() {
	awaits := s.rules.AwaitingFailback
	if len(awaits) == 0 {
		return
	}
	var others, awaiting regionRank // the best
	for region, rank := range s.rankRegions() {
		if slices.Contains(awaits, region) {
			awaiting = max(awaiting, rank)
		} else {
			others = max(others, rank)
		}
	}
	if others >= awaiting {
		s.filter(AwaitsFailback, func(c *Candidate) bool { return !slices.Contains(awaits, c.Region) })
	}
}

// rankRegions returns the rank of each region with remaining candidates.
func (s *selection) rankRegions() map[string]regionRank {
	type counts struct{ all, remaining, serving int }
	byRegion := make(map[string]counts)
	for i := range s.candidates {
		if c := &s.candidates[i]; s.rules.Accepts(s.family, c) {
			n := byRegion[c.Region]
			n.all++
			byRegion[c.Region] = n
		}
	}
	for _, i := range s.remaining {
		c := &s.candidates[i]
		n := byRegion[c.Region]
		n.remaining++
		if c.MayServe && c.Share > 0 {
			n.serving++
		}
		byRegion[c.Region] = n
	}
	ranks := make(map[string]regionRank, len(byRegion))
	for region, n := range byRegion {
		switch {
		case n.serving >= s.rules.requiredInRegion(n.all):
			ranks[region] = regionHasEnough
		case n.serving > 0:
			ranks[region] = regionServes
		case n.remaining > 0:
			ranks[region] = regionPresent
		}
	}
	return ranks
}

// RegionHealth is the health of a region of a name.
type RegionHealth struct {
	Region string
	// Serving is the number of backends that may serve. Required is the number that the region needs, at most the number
	// of its backends. A dual-stack region counts the address family with more backends.
	Serving, Required int
	// IsDown reports that too few backends may serve, and that at least one has failed. Backends that an operator or the
	// agent removed, and backends without a check result, have not failed.
	IsDown bool
}

// CanServe reports whether enough backends may serve.
func (r *RegionHealth) CanServe() bool { return r.Serving >= r.Required }

// RegionsOf returns the health of the named regions of the candidates, sorted by name.
func RegionsOf(rules *Rules, candidates []Candidate) []RegionHealth {
	type counts struct {
		all, serving [2]int // by family
		failed       bool
	}
	byRegion := map[string]*counts{}
	for i := range candidates {
		c := &candidates[i]
		if c.Region == "" {
			continue
		}
		n := byRegion[c.Region]
		if n == nil {
			n = new(counts)
			byRegion[c.Region] = n
		}
		family := FamilyOf(c.Address)
		if rules.AnswerNames { // addresses of both families are equivalent
			family = IPv4
		}
		n.all[family]++
		if c.MayServe {
			n.serving[family]++
		}
		n.failed = n.failed || !c.MayServe && !c.Withdrawn && !c.Unknown
	}
	list := make([]RegionHealth, 0, len(byRegion))
	for region, n := range byRegion {
		r := RegionHealth{Region: region, Serving: max(n.serving[0], n.serving[1]),
			Required: rules.requiredInRegion(max(n.all[0], n.all[1]))}
		r.IsDown = n.failed && !r.CanServe()
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b RegionHealth) int { return strings.Compare(a.Region, b.Region) })
	return list
}
