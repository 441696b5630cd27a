package explain

import (
	"fmt"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// FactorType is the kind of a factor; the values are part of the HTTP API.
type FactorType string

// The factors of a decision.
const (
	Geo        FactorType = "geo"
	Health     FactorType = "health"
	Weight     FactorType = "weight"
	Latency    FactorType = "latency"
	Priority   FactorType = "priority"
	ByOverride FactorType = "override"
	Drain      FactorType = "drain"
)

// Factor is a reason for a decision.
type Factor struct {
	Name   string
	Type   FactorType
	Value  string
	Impact string
}

// Factors returns the reasons for the decision, the most general first.
func (e *Explanation) Factors() []Factor {
	if e.Basis == nil {
		return nil
	}
	factors := []Factor{e.health()}
	if e.Basis.UsesRegion {
		factors = append(factors, e.geo())
	}
	factors = append(factors, e.choice()...)
	rules := e.Basis.Rules
	if len(rules.Regions) > 0 && e.Decision.Region != "" {
		factors = append(factors, Factor{"region_order", Priority, strings.Join(rules.Regions, ", "),
			e.Decision.Region + " answers"})
	}
	for _, effect := range e.Basis.Effects(&e.Decision, policy.ClientLocation{Region: e.Region}) {
		factors = append(factors, Factor{effect.Setting, Priority, effect.Value, effect.Impact})
	}
	if f, waits := e.failback(); waits {
		factors = append(factors, f)
	}
	if rules.MinHealthy != (policy.Minimum{}) {
		factors = append(factors, Factor{"min_healthy", Health, minimum(rules.MinHealthy),
			"with fewer backends that may serve, on_all_down decides"})
	}
	if f, any := e.reducedShares(); any {
		factors = append(factors, f)
	}
	for i := range e.Backends {
		factors = append(factors, e.factorsOf(&e.Backends[i])...)
	}
	return factors
}

// failback returns the factor of regions that await failback; waits is false without such regions.
func (e *Explanation) failback() (f Factor, waits bool) {
	awaits := e.Basis.AwaitingFailback
	if len(awaits) == 0 {
		return f, false
	}
	f = Factor{"failback", Priority, e.Basis.Rules.Parameters().Failback.String(),
		strings.Join(awaits, ", ") + " was down and does not answer before its failback"}
	if slices.Contains(awaits, e.Decision.Region) {
		f.Impact = strings.Join(awaits, ", ") + " was down, and answers because no other region can serve"
	}
	return f, true
}

// reducedShares returns the factor of chosen backends that serve with a reduced share, because of a drain or an early
// warning; any is false without such backends.
func (e *Explanation) reducedShares() (f Factor, any bool) {
	chosen, reduced := 0, 0
	for i := range e.Backends {
		if b := &e.Backends[i]; b.Excluded == "" {
			chosen++
			if b.Candidate.Share < 1 {
				reduced++
			}
		}
	}
	if reduced == 0 {
		return f, false
	}
	impact := "shares are relative inside a region: the other backends of the choice take the difference"
	if reduced == chosen {
		impact = "shares are relative inside a region: all of the choice is reduced, so its clients stay"
	}
	return Factor{"reduced_shares", Weight, fmt.Sprintf("%d of %d backends", reduced, chosen), impact}, true
}

func minimum(m policy.Minimum) string {
	if m.Percent > 0 {
		return fmt.Sprintf("%d%%", m.Percent)
	}
	return fmt.Sprint(m.Count)
}

func (e *Explanation) health() Factor {
	serving, family := 0, 0
	for i := range e.Backends {
		if b := &e.Backends[i]; b.MayServe {
			serving++
			if e.Basis.Rules.Accepts(e.Family, b.Candidate) {
				family++
			}
		}
	}
	f := Factor{Name: "serving_backends", Type: Health,
		Value: fmt.Sprintf("%d of %d, %d of them of this family", serving, len(e.Backends), family)}
	switch e.Outcome {
	case policy.NoHealthyBackend:
		f.Impact = "fewer backends than required may serve and on_all_down is servfail: SERVFAIL"
		if last := e.Basis.Rules.OnAllDown; last == policy.LastHealthy || last == policy.All {
			f.Impact = "fewer backends than required may serve and on_all_down " + string(last) + " finds none either: SERVFAIL"
		}
	case policy.Fallback:
		f.Impact = fmt.Sprintf("fewer backends than required may serve: on_all_down %s answers, for %d s at most",
			e.Basis.Rules.OnAllDown,
			policy.MaxFallbackTTL)
	case policy.NoData:
		f.Impact = "no address of this family: an empty answer"
	default:
		f.Impact = "the others are omitted"
	}
	return f
}

func (e *Explanation) geo() Factor {
	f := Factor{Name: "client_region", Type: Geo, Value: named(e.Region)}
	if e.Place != nil {
		f.Value += " by " + string(e.Place.Match)
		if e.Place.Match != geo.ByDefault {
			f.Value += " " + e.Place.MatchedCIDR.String()
		}
	}
	f.Impact = e.whichRegion()
	return f
}

// whichRegion returns the factor about the client's region.
func (e *Explanation) whichRegion() string {
	answers := e.Decision.Region
	switch {
	case e.Decision.Fence != "":
		return "the geofence allows only its own region to answer"
	case len(e.Decision.Members) == 0:
		return "makes no difference: there is no answer"
	case !e.Decision.Algorithm.ChoosesRegion():
		return "makes no difference to " + e.Decision.Algorithm.Name
	case e.Decision.Algorithm.RegionExplanation != "":
		return fmt.Sprintf(e.Decision.Algorithm.RegionExplanation, answers)
	case answers == "":
		return "backends without a region answer"
	case answers == e.Region:
		return "the client's own region answers"
	case e.Region == "":
		return "it is in no region: " + answers + " is the first that can answer"
	case slices.Contains(e.Basis.AwaitingFailback, e.Region):
		return "its own region awaits failback: " + answers + " is next"
	}
	return "its own region has nothing to answer with: " + answers + " is next"
}

// choice returns the factors of a selection by a fallback algorithm, by an algorithm inside a region, or by the
// client's network.
func (e *Explanation) choice() (factors []Factor) {
	d := &e.Decision
	if d.Algorithm != nil && d.Algorithm != e.Basis.Rules.Algorithm {
		factors = append(factors, Factor{"fallback_algorithm", Priority, d.Algorithm.Name,
			e.Basis.Rules.Algorithm.Name + " lacks data for a choice"})
	}
	if inside := e.innerAlgorithm(); inside != d.Algorithm && d.Region != "" && len(d.Members) > 0 {
		factors = append(factors, Factor{"algorithm_inside", Priority, inside.String(), "chooses inside " + d.Region})
	}
	if d.Hashed {
		factors = append(factors, Factor{"client_network", Weight,
			fmt.Sprintf("/%d or /%d", d.ClientBits.IPv4, d.ClientBits.IPv6),
			"this network has the same backend while the backend serves; shares are of all networks"})
	}
	return factors
}

// innerAlgorithm returns the algorithm that selected the backend inside a region, or among all backends.
func (e *Explanation) innerAlgorithm() *policy.Algorithm {
	if !e.Decision.Algorithm.ChoosesRegion() {
		return e.Decision.Algorithm
	}
	if pool := e.Basis.Rules.Pools[e.Decision.Region]; pool != nil {
		return pool
	}
	return policy.Weighted
}

// factorsOf returns the reasons that concern one backend.
func (e *Explanation) factorsOf(b *Backend) (factors []Factor) {
	name := Endpoint(b.Candidate)
	if f := b.Info; f != nil {
		if f.Override != nil {
			impact := "it may serve whatever its checks say"
			if !f.Override.Healthy {
				impact = "it may not serve"
			}
			factors = append(factors, Factor{name, ByOverride, Override(f.Override), impact})
		}
		if !f.DrainEndsAt.IsZero() {
			value := "until " + moment(f.DrainEndsAt)
			if f.DrainTo > 0 {
				value += fmt.Sprintf(", to %.0f %%", 100*f.DrainTo)
			}
			if f.Drain != nil {
				value += ", " + author(f.Drain)
			}
			factors = append(factors, Factor{name, Drain, value,
				fmt.Sprintf("%.0f %% of its weight is left", 100*b.Candidate.Share)})
		}
		if f.Weight != nil {
			factors = append(factors, Factor{name, Weight, fmt.Sprintf("%d, %s", b.Candidate.Weight, author(f.Weight)),
				fmt.Sprintf("instead of the declared %d", f.Declared)})
		}
	}
	if f := b.Info; f != nil && f.Votes != "" {
		factors = append(factors, Factor{name, Health, f.Votes, "agreement between nodes (validation.agree)"})
	}
	if b.Excluded != "" {
		return factors
	}
	if f := b.Info; f != nil && f.Check != "" {
		factors = append(factors, Factor{name, Health, f.Check, "the agent decides on the omitted part"})
	}
	if m := b.Candidate.Latency; e.innerAlgorithm() == policy.Latency && m.Samples > 0 {
		impact := "among the fastest"
		samples, longest := e.Basis.Rules.Parameters().LatencyConfig.MinSamples, policy.MaxLatency(e.Basis.Rules)
		switch { // the comparison of policy.Latency, which selects such backends if there are no others
		case m.Samples < samples:
			impact = fmt.Sprintf("not compared: measured %d of %d times", m.Samples, samples)
		case longest > 0 && m.Smoothed > longest:
			impact = "not compared: slower than " + Milliseconds(longest)
		}
		factors = append(factors, Factor{name, Latency, Milliseconds(m.Smoothed), impact})
	}
	value := fmt.Sprint(b.Candidate.Weight)
	if b.Candidate.Share < 1 {
		value += fmt.Sprintf(" x %.2f", b.Candidate.Share)
	}
	if b.Candidate.AddressCount > 1 {
		value += fmt.Sprintf(" / %d addresses", b.Candidate.AddressCount)
	}
	return append(factors, Factor{name, Weight, value, fmt.Sprintf("%.1f %% of these answers", 100*b.Share)})
}
