package explain

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// Shift is the difference between a name's answers in two views, for the clients of a region. Fractions are from 0 to
// 1.
type Shift struct {
	Region    string             // region of the clients; empty: no region, or all clients
	Everybody bool               // clients in all regions
	Before    map[string]float64 // by address, or by the name of a target
	After     map[string]float64
	Elsewhere float64          // fraction of answers with another first address or target
	Moves     map[Move]float64 // fraction of answers by change of the backend region
}

// Move is a change of answers from one backend region to another. "" means no answer, or a backend without a region.
type Move struct{ From, To string }

// Shifts compares the answers of a name in two views by client region. A name that is not load-balanced in a view has
// no answers there.
func Shifts(before, after *zone.View, name string, family policy.Family) ([]Shift, error) {
	was, wasIn, err := portions(before, name, family)
	if err != nil {
		return nil, err
	}
	is, isIn, err := portions(after, name, family)
	if err != nil {
		return nil, err
	}
	if len(was)+len(is) == 0 {
		return nil, nil
	}
	both := maps.Clone(was)
	maps.Copy(both, is)
	var list []Shift
	for _, region := range slices.Sorted(maps.Keys(both)) {
		list = append(list, shift(region, len(both) == 1 && region == "", was.answersIn(region, isIn, wasIn),
			is.answersIn(region, wasIn, isIn)))
	}
	return list, nil
}

// part is the fraction of answers with an address or a target name, and the region of this address or name.
type part struct {
	share  float64
	region string
}

// answersByRegion contains the fractions of answers by client region; "" if all clients receive the same answers.
type answersByRegion map[string]map[string]part

// portions returns the fractions of a name's answers by client region, and the client regions by geo.RegionID.
// Different locations in one region have equal weight.
func portions(view *zone.View, name string, family policy.Family) (answersByRegion, []string, error) {
	answers, err := ByRegion(view, name, family)
	if err != nil || len(answers) == 0 {
		return answersByRegion{}, nil, err
	}
	return portionsOf(answers), answers[0].Decision.Input.Clients, nil
}

// portionsOf is portions for known answers. Its time is proportional to the number of backends.
func portionsOf(answers []RegionAnswer) answersByRegion {
	places := map[string]int{}
	for _, a := range answers {
		places[a.Region]++
	}
	all := answersByRegion{}
	for _, a := range answers {
		sum := 0
		for _, due := range a.Decision.Members {
			sum += due.Parts
		}
		if all[a.Region] == nil {
			all[a.Region] = map[string]part{}
		}
		behind := a.Decision.CandidatesOfMembers()
		for i, due := range a.Decision.Members {
			p := all[a.Region][due.Name()]
			p.share += float64(due.Parts) / float64(sum) / float64(places[a.Region])
			if p.region = ""; behind[i] >= 0 {
				p.region = a.Decision.Input.Candidates[behind[i]].Region
			}
			all[a.Region][due.Name()] = p
		}
	}
	return all
}

// answersIn returns the answers to the clients of a region, or the answers with the key "" if all clients receive the
// same answers. other and here contain the client regions by geo.RegionID in the other view and in this view. For a
// region that exists only in the other view, answersIn returns the mean of the answers that the clients of the region
// receive in this view.
func (a answersByRegion) answersIn(region string, other, here []string) map[string]part {
	if answers, told := a[region]; told {
		return answers
	}
	if len(a) == 1 {
		return a[""]
	}
	if len(other) != len(here) {
		return nil
	}
	mean, count := map[string]part{}, 0.0
	for id := range other {
		if other[id] != region {
			continue
		}
		count++
		for name, p := range a[here[id]] {
			mean[name] = part{mean[name].share + p.share, p.region}
		}
	}
	for name, p := range mean {
		mean[name] = part{p.share / count, p.region}
	}
	return mean
}

func shift(region string, everybody bool, before, after map[string]part) Shift {
	s := Shift{Region: region, Everybody: everybody, Before: shares(before), After: shares(after),
		Moves: map[Move]float64{}}
	if len(before) == 0 || len(after) == 0 {
		if len(before)+len(after) > 0 {
			s.Elsewhere = 1
		}
	} else {
		for address, p := range before {
			s.Elsewhere += max(p.share-after[address].share, 0)
		}
	}
	lost, gained := byRegion(before, after), byRegion(after, before)
	total := 0.0
	for _, part := range gained {
		total += part
	}
	for from, part := range lost {
		for to, share := range gained {
			s.Moves[Move{from, to}] += part * share / total
		}
	}
	return s
}

// byRegion returns the regions with a greater fraction in one answer than in the other, and the difference. A missing
// answer belongs to no region.
func byRegion(one, other map[string]part) map[string]float64 {
	sum := map[string]float64{}
	for _, p := range one {
		sum[p.region] += p.share
	}
	if len(one) == 0 {
		sum[""] = 1
	}
	for _, p := range other {
		sum[p.region] -= p.share
	}
	if len(other) == 0 {
		sum[""]--
	}
	maps.DeleteFunc(sum, func(_ string, part float64) bool { return part <= 1e-9 })
	return sum
}

func shares(parts map[string]part) map[string]float64 {
	out := make(map[string]float64, len(parts))
	for address, p := range parts {
		out[address] = p.share
	}
	return out
}

// Differs reports whether the answer of any client differs.
func (s *Shift) Differs() bool { return s.Elsewhere > 1e-9 && !math.IsNaN(s.Elsewhere) }

// Worse compares a name's answers in two views. loses reports whether the answer of any client becomes worse.
func Worse(before, after *zone.View, name string) (loss Loss, loses bool, err error) {
	for _, family := range []policy.Family{policy.IPv4, policy.IPv6} {
		was, err := ByRegion(before, name, family)
		if err != nil {
			return Loss{}, false, err
		}
		is, err := ByRegion(after, name, family)
		if err != nil {
			return Loss{}, false, err
		}
		outcome, worse := worstOf(was, is)
		if !worse {
			continue
		}
		loss.Families = append(loss.Families, family)
		loss.Outcome = cmp.Or(loss.Outcome, outcome)
		if outcome == policy.NoHealthyBackend {
			loss.Outcome = outcome
		}
		if len(is) > 0 {
			basis := is[0].Decision.Input
			loss.Serving, loss.Minimum = basis.CountServing(basis.Candidates)
		}
	}
	return loss, len(loss.Families) > 0, nil
}

// worstOf compares the answers of all regions.
func worstOf(was, is []RegionAnswer) (outcome policy.Outcome, worse bool) {
	for _, before := range was {
		for _, after := range is {
			if after.Region != before.Region && !after.Everybody && !before.Everybody {
				continue
			}
			if o, w := worsened(before.Decision, after.Decision); w {
				if worse = true; o == policy.NoHealthyBackend || outcome == "" {
					outcome = o
				}
			}
		}
	}
	return outcome, worse
}
