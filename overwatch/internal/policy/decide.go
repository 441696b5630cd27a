package policy

import (
	"slices"
	"time"
)

// Decide says which addresses of the family answer under the rules.
//
// Each step works on what the one before left over: candidates that may serve, or, if none may in either family or fewer in
// both than the minimum, those of the last resort; of this family; with a weight and a share above 0, unless none has; in the
// region that failover, geolocation or proximity chooses; there, as fast as latency asks for. Answers of the last resort
// live for at most MaxLastResortTTL.
func Decide(rules Rules, candidates []Candidate, family Family) Decision {
	d := decider{candidates: candidates, why: make([]Reason, len(candidates))}
	decision := d.decide(&rules, family)
	decision.Excluded = d.excluded()
	return decision
}

// Choose is Decide without Excluded, which costs as much as all the rest.
func Choose(rules Rules, candidates []Candidate, family Family) Decision {
	d := decider{candidates: candidates}
	return d.decide(&rules, family)
}

func (d *decider) decide(rules *Rules, family Family) Decision {
	var room [fewCandidates]int
	in, decision := d.sift(rules, family, room[:0])
	if len(in) == 0 {
		return decision
	}
	algorithm := rules.Algorithm
	if rules.Fallback != "" && !d.hasData(algorithm, in, rules) {
		algorithm = rules.Fallback
	}
	decision.Algorithm, decision.Group = algorithm, string(algorithm)
	inside := algorithm
	if algorithm.ChoosesRegion() {
		var over bool
		in, over = d.region(algorithm, in, rules, family, &decision)
		if over && decision.Outcome == Success {
			decision.Outcome = FailedOver
		}
		if inside = rules.Pools[decision.Region]; inside == "" {
			inside = Weighted
		}
	}
	if inside == Latency {
		in = d.fastest(in, rules, decision.Group)
	}
	decision.Due = due(d.candidates, in, inside)
	if inside == ClientHash && len(decision.Due) > 1 {
		decision.Hashed, decision.ClientBits = true, rules.ClientBits
	}
	return decision
}

// fewCandidates is how many candidates are sorted out without memory of the heap.
const fewCandidates = 8

// sift is the part of Decide that is the same for all clients: it leaves over who answers in all regions together. With
// nobody the decision is final.
func (d *decider) sift(rules *Rules, family Family, room []int) (in []int, decision Decision) {
	decision = Decision{Outcome: Success, TTL: rules.TTL, FullTTL: rules.TTL, Algorithm: rules.Algorithm}
	in = d.keep(d.all(room), MayNotServe, func(c *Candidate) bool { return c.MayServe })
	if minimum := rules.MinHealthy.of(d.known()); len(in) < minimum {
		decision.Outcome, decision.TTL = Fallback, min(rules.TTL, MaxLastResortTTL)
		d.keep(in, TooFewServe, func(*Candidate) bool { return false })
		if in = d.lastResort(rules.OnAllDown, minimum); len(in) == 0 && d.knows(family) {
			decision.Outcome, decision.TTL = NoHealthyBackend, rules.TTL
			return nil, decision
		}
	}
	in = d.keep(in, OtherFamily, func(c *Candidate) bool { return family.Has(c.Address) })
	if len(in) == 0 {
		decision.Outcome, decision.TTL = NoData, rules.TTL
		return nil, decision
	}
	in = d.prefer(in, ZeroWeight, func(c *Candidate) bool { return c.Weight > 0 })
	in = d.prefer(in, Drained, func(c *Candidate) bool { return c.Share > 0 })
	return in, decision
}

// known counts the candidates of whose health something is known.
func (d *decider) known() (count int) {
	for i := range d.candidates {
		if !d.candidates[i].Unknown {
			count++
		}
	}
	return count
}

// hasData says whether an algorithm knows enough of the client or the candidates.
func (d *decider) hasData(algorithm Algorithm, in []int, rules *Rules) bool {
	switch algorithm {
	case Geolocation:
		return rules.Client != ""
	case Proximity:
		return rules.Position != nil && slices.ContainsFunc(in, func(i int) bool {
			_, known := rules.Coordinates[d.candidates[i].Region]
			return known
		})
	case Latency:
		return slices.ContainsFunc(in, func(i int) bool { return qualifies(&d.candidates[i], rules) })
	}
	return true
}

// region keeps who is in the region that an algorithm chooses, or in those that share with it, and notes it. over says
// that it would be another one, were all candidates fit to serve.
func (d *decider) region(algorithm Algorithm, in []int, rules *Rules, family Family, decision *Decision) (_ []int, over bool) {
	if algorithm == Proximity && d.hasData(Proximity, in, rules) {
		at := distances{from: *rules.Position, rules: rules}
		nearest, band := at.band(d.regions(in))
		decision.Region, decision.Group = nearest, groupOf(algorithm, nearest, band)
		expected, _ := at.band(d.expected(family))
		return d.keep(in, Farther, func(c *Candidate) bool { return slices.Contains(band, c.Region) }), nearest != expected
	}
	if algorithm == Failover {
		decision.Region = chooseRegion(d.candidates, in, rules)
		first := slices.IndexFunc(rules.Regions, func(region string) bool { return d.expects(region, family) })
		over = first >= 0 && rules.Regions[first] != decision.Region
	} else {
		decision.Region = nearestRegion(d.candidates, in, rules)
		over = rules.Client != decision.Region && d.expects(rules.Client, family)
	}
	decision.Group = groupOf(algorithm, decision.Region, nil)
	return d.inside(in, decision.Region), over
}

// decider sorts candidates out.
type decider struct {
	candidates []Candidate
	why        []Reason // each one went, empty while it is in; nil: nobody asks
}

// all is every candidate, in the room if they fit.
func (d *decider) all(room []int) []int {
	room = slices.Grow(room[:0], len(d.candidates))
	for i := range d.candidates {
		room = append(room, i)
	}
	return room
}

// keep drops from in, in place, what fails the test.
func (d *decider) keep(in []int, reason Reason, test func(*Candidate) bool) []int {
	return slices.DeleteFunc(in, func(i int) bool {
		if test(&d.candidates[i]) {
			return false
		}
		if d.why != nil {
			d.why[i] = reason
		}
		return true
	})
}

// prefer drops from in what fails the test, unless everything does.
func (d *decider) prefer(in []int, reason Reason, test func(*Candidate) bool) []int {
	if !slices.ContainsFunc(in, func(i int) bool { return test(&d.candidates[i]) }) {
		return in
	}
	return d.keep(in, reason, test)
}

// inside drops what is in another region.
func (d *decider) inside(in []int, region string) []int {
	return d.keep(in, OtherRegion, func(c *Candidate) bool { return c.Region == region })
}

// expects says whether a region has backends of the family, whatever their health.
func (d *decider) expects(region string, family Family) bool {
	return slices.ContainsFunc(d.candidates, func(c Candidate) bool { return c.Region == region && family.Has(c.Address) })
}

// regions is where the candidates in are, in the order of names.
func (d *decider) regions(in []int) []string {
	var found []string
	for _, i := range in {
		if at, known := slices.BinarySearch(found, d.candidates[i].Region); !known {
			found = slices.Insert(found, at, d.candidates[i].Region)
		}
	}
	return found
}

// expected is where candidates of a family are, whatever their health.
func (d *decider) expected(family Family) []string {
	in := slices.DeleteFunc(d.all(nil), func(i int) bool { return !family.Has(d.candidates[i].Address) })
	return d.regions(in)
}

// lastResort brings back the candidates that answer although they may not serve or are too few.
func (d *decider) lastResort(choice OnAllDown, minimum int) []int {
	if choice != LastHealthy && choice != All {
		return nil
	}
	clear(d.why)
	in := d.keep(d.all(nil), TakenOut, func(c *Candidate) bool { return !c.Forbidden })
	if choice == All {
		return in
	}
	since := d.enoughSince(in, minimum)
	return d.keep(in, NotLastResort, func(c *Candidate) bool {
		return c.MayServe || !c.LastHealthy.IsZero() && !c.LastHealthy.Before(since)
	})
}

// enoughSince is LastHealthySpan before the moment at which the minimum was last reached, as far as that is known.
func (d *decider) enoughSince(in []int, minimum int) time.Time {
	var lost []time.Time // the latest first
	for _, i := range in {
		switch c := &d.candidates[i]; {
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

// knows says whether an answer of the family may be expected: a name without any candidate may get some of either.
func (d *decider) knows(family Family) bool {
	return len(d.candidates) == 0 ||
		slices.ContainsFunc(d.candidates, func(c Candidate) bool { return family.Has(c.Address) })
}

func (d *decider) excluded() []Excluded {
	count := 0
	for _, reason := range d.why {
		if reason != "" {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	out := make([]Excluded, 0, count)
	for i, reason := range d.why {
		if reason != "" {
			out = append(out, Excluded{i, reason})
		}
	}
	return out
}
