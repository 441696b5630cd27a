package policy

import (
	"slices"
	"time"
)

// Latency selects the backends with the lowest latency of this node's own checks, weighted among them.
var Latency = &Algorithm{
	Name: "latency", Title: "Latency", Kind: "measured",
	Description: "the backends with the lowest latency of this node's own checks answer, weighted",
	Parameters: map[string]string{
		weightKey: weightText, fallbackKey: fallbackText,
		"latency_config.smoothing_factor": "weight of the latest measurement",
		"latency_config.max_latency_ms":   "slower backends are excluded",
		"latency_config.min_samples":      "backends with fewer samples are not compared",
		"latency_config.tolerance_ms":     "milliseconds by which a backend may be slower, in addition to a tenth",
	},
	NeedsLatency: true, WithinRegion: true,
	hasData: hasComparable,
	choose:  selectFastest,
}

// Relative difference to the lowest latency at which a backend starts (enter) or stops (exit) to share the answers. A
// difference between the two bounds does not change the selection, so that noise does not move clients.
const (
	LatencyEnterBand = 0.1
	LatencyExitBand  = 0.25
	// LatencyExitFactor is the factor of latency_config.tolerance_ms for a backend that already shares the answers.
	LatencyExitFactor = 1.25
)

// latencyBound returns the maximum latency of a backend that shares the answers with the fastest backend.
func latencyBound(best time.Duration, rules *Rules, shares bool) time.Duration {
	tolerance := time.Duration(rules.Parameters().LatencyConfig.ToleranceMs) * time.Millisecond
	if shares {
		return time.Duration(float64(best)*(1+LatencyExitBand) + float64(tolerance)*LatencyExitFactor)
	}
	return time.Duration(float64(best)*(1+LatencyEnterBand)) + tolerance
}

// hasComparable reports whether a candidate has enough samples and an acceptable latency.
func hasComparable(s *selection) bool {
	return slices.ContainsFunc(s.remaining, func(i int) bool {
		c := &s.candidates[i]
		return hasEnoughSamples(c, s.rules) && isWithinMaxLatency(c, s.rules)
	})
}

func hasEnoughSamples(c *Candidate, rules *Rules) bool {
	return c.Latency.Samples >= max(rules.Parameters().LatencyConfig.MinSamples, 1)
}

// MaxLatency returns the latency above which backends are excluded, or 0 without a limit.
func MaxLatency(rules *Rules) time.Duration {
	return time.Duration(rules.Parameters().LatencyConfig.MaxLatencyMs) * time.Millisecond
}

// isWithinMaxLatency reports whether the latency of a candidate is acceptable.
func isWithinMaxLatency(c *Candidate, rules *Rules) bool {
	longest := MaxLatency(rules)
	return longest <= 0 || c.Latency.Smoothed <= longest
}

// selectFastest selects the comparable candidates within the band of the fastest; all candidates if none is comparable.
// group is the decision's group: the bound is higher for candidates that already share the answers of this group.
func selectFastest(s *selection, group string) {
	if !hasComparable(s) {
		return
	}
	s.filter(FewSamples, func(c *Candidate) bool { return hasEnoughSamples(c, s.rules) })
	s.filter(TooSlow, func(c *Candidate) bool { return isWithinMaxLatency(c, s.rules) })
	best := s.candidates[s.remaining[0]].Latency.Smoothed
	for _, i := range s.remaining {
		best = min(best, s.candidates[i].Latency.Smoothed)
	}
	s.filter(Slower, func(c *Candidate) bool {
		return c.Latency.Smoothed <= latencyBound(best, s.rules, slices.Contains(c.Latency.Groups, group))
	})
}
