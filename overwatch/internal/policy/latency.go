package policy

import (
	"slices"
	"time"
)

// Latency is weighted among the backends that this node's own checks find fastest.
var Latency = &Algorithm{
	Name: "latency", Title: "Latency", Kind: "measured",
	Description: "the backends that this node's own checks find fastest share by weight",
	Parameters: map[string]string{
		weightKey: weightText, instead: insteadText,
		"latency_config.smoothing_factor": "the weight of the newest measurement",
		"latency_config.max_latency_ms":   "slower backends wait",
		"latency_config.min_samples":      "backends that were measured less often are not compared",
		"latency_config.tolerance_ms":     "milliseconds by which a backend may be slower, in addition to a tenth",
	},
	NeedsLatency: true, WithinRegion: true,
	hasData: anyQualifies,
	choose:  fastest,
}

// Part of the fastest backend's latency by which another may be slower and still share with it: to come in, and to stay
// in. Differences between the two are noise, and clients keep what they have.
const (
	LatencyBand = 0.1
	LatencyHold = 0.25
	// LatencySlackHold is the factor of latency_config.tolerance_ms for a backend that shares already.
	LatencySlackHold = 1.25
)

// latencyBound returns the latency up to which a backend shares with the fastest one.
func latencyBound(best time.Duration, rules *Rules, shares bool) time.Duration {
	tolerance := time.Duration(rules.Parameters().LatencyConfig.ToleranceMs) * time.Millisecond
	if shares {
		return time.Duration(float64(best)*(1+LatencyHold) + float64(tolerance)*LatencySlackHold)
	}
	return time.Duration(float64(best)*(1+LatencyBand)) + tolerance
}

// anyQualifies reports whether there is a candidate whose latency can be compared.
func anyQualifies(s *selection) bool {
	return slices.ContainsFunc(s.in, func(i int) bool {
		c := &s.candidates[i]
		return measured(c, s.rules) && inTime(c, s.rules)
	})
}

func measured(c *Candidate, rules *Rules) bool {
	return c.Latency.Samples >= max(rules.Parameters().LatencyConfig.MinSamples, 1)
}

// MaxLatency returns the latency above which backends wait; 0: there is none.
func MaxLatency(rules *Rules) time.Duration {
	return time.Duration(rules.Parameters().LatencyConfig.MaxLatencyMs) * time.Millisecond
}

func inTime(c *Candidate, rules *Rules) bool {
	longest := MaxLatency(rules)
	return longest <= 0 || c.Latency.Smoothed <= longest
}

// fastest keeps, of the candidates that qualify, those within the band of the fastest; without such, all. group names
// the decision's group: in another one a candidate may have shared with others.
func fastest(s *selection, group string) {
	if !anyQualifies(s) {
		return
	}
	s.keep(FewSamples, func(c *Candidate) bool { return measured(c, s.rules) })
	s.keep(TooSlow, func(c *Candidate) bool { return inTime(c, s.rules) })
	best := s.candidates[s.in[0]].Latency.Smoothed
	for _, i := range s.in {
		best = min(best, s.candidates[i].Latency.Smoothed)
	}
	s.keep(Slower, func(c *Candidate) bool {
		return c.Latency.Smoothed <= latencyBound(best, s.rules, slices.Contains(c.Latency.Held, group))
	})
}
