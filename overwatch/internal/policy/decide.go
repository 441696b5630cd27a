package policy

import (
	"cmp"
	"slices"
)

// Decide selects the addresses of a family under the rules, and returns the reasons for excluding other candidates.
//
// Each step reduces the candidates of the previous step: candidates that the geofence allows; candidates that may
// serve, or the fallback candidates if fewer than the minimum (of both families, with the candidates outside the
// geofence) or none of the allowed candidates may serve; candidates of the family; candidates of regions that await no
// failback, unless the other regions can serve better; candidates with a weight and a share above 0, unless there are
// none; candidates of the selected region; candidates that the algorithm within the region selects. Fallback answers
// have a TTL of at most MaxFallbackTTL.
func Decide(rules Rules, candidates []Candidate, family Family) Decision {
	s := selection{candidates: candidates, rules: &rules, family: family, reasons: make([]Reason, len(candidates))}
	decision := s.decide()
	decision.Excluded = s.listExcluded()
	return decision
}

// DecideWithoutReasons is Decide without Excluded. The computation of Excluded doubles the cost.
func DecideWithoutReasons(rules Rules, candidates []Candidate, family Family) Decision {
	s := selection{candidates: candidates, rules: &rules, family: family}
	return s.decide()
}

// decide performs the steps of Decide.
func (s *selection) decide() Decision {
	var few [fewCandidates]int
	decision := s.selectServing(few[:0])
	if len(s.remaining) == 0 {
		return decision
	}
	algorithm := decision.Algorithm
	if s.rules.Fallback != nil && algorithm.hasData != nil && !algorithm.hasData(s) {
		algorithm = s.rules.Fallback
	}
	decision.Algorithm, decision.Group = algorithm, algorithm.Name
	within := algorithm
	if algorithm.ChoosesRegion() {
		s.selectRegion(algorithm, &decision)
		if within = s.rules.Pools[decision.Region]; within == nil {
			within = Weighted
		}
	}
	if s.fence != "" { // a fenced client may have another fallback answer of the same region
		decision.Group += " fenced in " + s.fence
	}
	if within.choose != nil {
		within.choose(s, decision.Group)
	}
	decision.Members = computeMembers(s.rules.AnswerNames, s.candidates, s.remaining, within)
	if s.rules.WithPorts {
		decision.Ports = computePorts(s.candidates, s.remaining, within)
	}
	if within.AssignsClients && len(decision.Members) > 1 {
		decision.Hashed, decision.ClientBits = true, clientBits(s.rules)
	}
	return decision
}

// fewCandidates is the largest number of candidates that are processed without heap allocation.
const fewCandidates = 8

// selectServing selects the candidates that can answer, in any region. If none remains, the decision is final. The
// result is the same for all clients. in is memory that is used if it is large enough.
func (s *selection) selectServing(in []int) (decision Decision) {
	rules := s.rules
	decision = Decision{Outcome: Success, TTL: rules.TTL, FullTTL: rules.TTL, Algorithm: cmp.Or(rules.Algorithm, Weighted)}
	s.fence = rules.fence()
	decision.Fence = s.fence
	s.selectAll(in)
	s.filterGeofence()
	s.filter(MayNotServe, func(c *Candidate) bool { return c.MayServe })
	minimum := rules.MinHealthy.RequiredOf(s.countKnown())
	if len(s.remaining) == 0 || s.countServing() < minimum {
		decision.Outcome, decision.TTL = Fallback, min(rules.TTL, MaxFallbackTTL)
		s.filter(TooFewServe, func(*Candidate) bool { return false })
		if s.selectFallback(minimum); len(s.remaining) == 0 && s.emptyIsFailure() {
			decision.Outcome, decision.TTL = NoHealthyBackend, rules.TTL
			return decision
		}
	}
	s.filter(OtherFamily, func(c *Candidate) bool { return s.rules.Accepts(s.family, c) })
	if len(s.remaining) == 0 {
		decision.Outcome, decision.TTL = NoData, rules.TTL
		return decision
	}
	s.filterAwaitingFailback() // before the weights, so that a standby with weight 0 stays
	s.filterIfAny(ZeroWeight, func(c *Candidate) bool { return c.Weight > 0 })
	s.filterIfAny(Drained, func(c *Candidate) bool { return c.Share > 0 })
	return decision
}

// selectRegion selects the candidates of the regions that the algorithm chooses, and records the choice in the
// decision.
func (s *selection) selectRegion(algorithm *Algorithm, decision *Decision) {
	choice := algorithm.chooseRegion(s)
	decision.Region, decision.Shared = choice.region, choice.shared
	decision.Group = groupName(algorithm, choice.region, choice.shared)
	if choice.failover && decision.Outcome == Success && s.fence == "" {
		decision.Outcome = FailedOver
	}
	s.filter(choice.reason, func(c *Candidate) bool {
		return c.Region == choice.region || slices.Contains(choice.shared, c.Region)
	})
}

// listExcluded returns the excluded candidates with their reasons; nil if empty.
func (s *selection) listExcluded() []Excluded {
	count := 0
	for _, reason := range s.reasons {
		if reason != "" {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	out := make([]Excluded, 0, count)
	for i, reason := range s.reasons {
		if reason != "" {
			out = append(out, Excluded{i, reason})
		}
	}
	return out
}
