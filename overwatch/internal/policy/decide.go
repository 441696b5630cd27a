package policy

import (
	"cmp"
	"slices"
)

// Decide decides which addresses of the family answer under the rules, and why the other candidates do not.
//
// Each step works on the candidates that the one before left over: those that may serve, or, if none may in either
// family or fewer in both than the minimum, those of the last resort; of this family; with a weight and a share above
// 0, unless none has; in the region that the algorithm chooses, if it does; there, those that the algorithm inside it
// keeps. Answers of the last resort live for at most MaxLastResortTTL.
func Decide(rules Rules, candidates []Candidate, family Family) Decision {
	s := selection{candidates: candidates, rules: &rules, family: family, why: make([]Reason, len(candidates))}
	decision := s.decide()
	decision.Excluded = s.excluded()
	return decision
}

// Choose is Decide without Excluded, which costs as much as all the rest.
func Choose(rules Rules, candidates []Candidate, family Family) Decision {
	s := selection{candidates: candidates, rules: &rules, family: family}
	return s.decide()
}

func (s *selection) decide() Decision {
	var few [fewCandidates]int
	decision := s.sift(few[:0])
	if len(s.in) == 0 {
		return decision
	}
	algorithm := decision.Algorithm
	if s.rules.Fallback != nil && algorithm.hasData != nil && !algorithm.hasData(s) {
		algorithm = s.rules.Fallback
	}
	decision.Algorithm, decision.Group = algorithm, algorithm.Name
	within := algorithm
	if algorithm.ChoosesRegion() {
		s.keepRegion(algorithm, &decision)
		if within = s.rules.Pools[decision.Region]; within == nil {
			within = Weighted
		}
	}
	if within.choose != nil {
		within.choose(s, decision.Group)
	}
	decision.Due = due(s.rules.Names, s.candidates, s.in, within)
	if s.rules.Ports {
		decision.Ports = ports(s.candidates, s.in, within)
	}
	if within.KeepsClients && len(decision.Due) > 1 {
		decision.Hashed, decision.ClientBits = true, clientBits(s.rules)
	}
	return decision
}

// fewCandidates is the greatest number of candidates that are sorted out without memory of the heap.
const fewCandidates = 8

// sift keeps the candidates that may answer, in any region. If none is left, the decision is final. It is the part of
// Decide that is the same for all clients. in is memory to use if it is enough.
func (s *selection) sift(in []int) (decision Decision) {
	rules := s.rules
	decision = Decision{Outcome: Success, TTL: rules.TTL, FullTTL: rules.TTL, Algorithm: cmp.Or(rules.Algorithm, Weighted)}
	s.selectAll(in)
	s.keep(MayNotServe, func(c *Candidate) bool { return c.MayServe })
	if minimum := rules.MinHealthy.Of(s.known()); len(s.in) < minimum {
		decision.Outcome, decision.TTL = Fallback, min(rules.TTL, MaxLastResortTTL)
		s.keep(TooFewServe, func(*Candidate) bool { return false })
		if s.lastResort(minimum); len(s.in) == 0 && s.emptyIsFailure() {
			decision.Outcome, decision.TTL = NoHealthyBackend, rules.TTL
			return decision
		}
	}
	s.keep(OtherFamily, func(c *Candidate) bool { return s.rules.Takes(s.family, c) })
	if len(s.in) == 0 {
		decision.Outcome, decision.TTL = NoData, rules.TTL
		return decision
	}
	s.prefer(ZeroWeight, func(c *Candidate) bool { return c.Weight > 0 })
	s.prefer(Drained, func(c *Candidate) bool { return c.Share > 0 })
	return decision
}

// keepRegion keeps the candidates in the region that an algorithm chooses, or in those that share with it, and notes
// the choice in the decision.
func (s *selection) keepRegion(algorithm *Algorithm, decision *Decision) {
	choice := algorithm.chooseRegion(s)
	decision.Region, decision.Group = choice.region, groupOf(algorithm, choice.region, choice.shared)
	if choice.over && decision.Outcome == Success {
		decision.Outcome = FailedOver
	}
	s.keep(choice.reason, func(c *Candidate) bool {
		return c.Region == choice.region || slices.Contains(choice.shared, c.Region)
	})
}

func (s *selection) excluded() []Excluded {
	count := 0
	for _, reason := range s.why {
		if reason != "" {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	out := make([]Excluded, 0, count)
	for i, reason := range s.why {
		if reason != "" {
			out = append(out, Excluded{i, reason})
		}
	}
	return out
}
