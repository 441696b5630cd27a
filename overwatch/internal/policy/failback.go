package policy

import (
	"slices"
	"strings"
)

// requiredInRegion returns the number of serving backends that a region needs to be selected by the algorithm.
func (r *Rules) requiredInRegion() int {
	if r.Algorithm != Failover {
		return 1
	}
	return max(r.Parameters().FailoverThreshold, 1)
}

// filterAwaitingFailback excludes the regions that await failback, if another region has enough candidates.
func (s *selection) filterAwaitingFailback() {
	awaits := s.rules.AwaitingFailback
	if len(awaits) == 0 {
		return
	}
	count := make(map[string]int)
	for _, i := range s.remaining {
		if region := s.candidates[i].Region; !slices.Contains(awaits, region) {
			count[region]++
		}
	}
	for _, n := range count {
		if n >= s.rules.requiredInRegion() {
			s.filter(AwaitsFailback, func(c *Candidate) bool { return !slices.Contains(awaits, c.Region) })
			return
		}
	}
}

// RegionHealth is the health of a region of a name.
type RegionHealth struct {
	Region string
	// Serving is the number of backends that may serve, Required the number that the region needs. A dual-stack region
	// counts the address family with more serving backends.
	Serving, Required int
	// IsDown reports that too few backends may serve, and that at least one has failed. Backends that an operator removed,
	// and backends without a check result, have not failed.
	IsDown bool
}

// CanServe reports whether enough backends may serve.
func (r *RegionHealth) CanServe() bool { return r.Serving >= r.Required }

// RegionsOf returns the health of the named regions of the candidates, sorted by name.
func RegionsOf(rules *Rules, candidates []Candidate) []RegionHealth {
	type counts struct {
		serving [2]int // by family
		failed  bool
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
		if c.MayServe {
			n.serving[family]++
		}
		n.failed = n.failed || !c.MayServe && !c.Withdrawn && !c.Unknown
	}
	list := make([]RegionHealth, 0, len(byRegion))
	for region, n := range byRegion {
		r := RegionHealth{Region: region, Serving: max(n.serving[0], n.serving[1]), Required: rules.requiredInRegion()}
		r.IsDown = n.failed && !r.CanServe()
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b RegionHealth) int { return strings.Compare(a.Region, b.Region) })
	return list
}
