package policy

import (
	"slices"
	"time"
)

// LatencyBand is how much slower than the fastest backend, as a part of its latency, another may be and still share with it.
const LatencyBand = 0.1

// fastest is latency: of the candidates that were measured often enough and are not above the limit, those within the band
// of the fastest; without such, all.
func (d *decider) fastest(in []int, rules Rules) []int {
	measured := func(c *Candidate) bool { return c.Latency.Samples >= max(rules.MinSamples, 1) }
	inTime := func(c *Candidate) bool { return rules.MaxLatency <= 0 || c.Latency.Smoothed <= rules.MaxLatency }
	if !slices.ContainsFunc(in, func(i int) bool { return measured(&d.candidates[i]) && inTime(&d.candidates[i]) }) {
		return in
	}
	in = d.keep(in, FewSamples, measured)
	in = d.keep(in, TooSlow, inTime)
	best := d.candidates[in[0]].Latency.Smoothed
	for _, i := range in {
		best = min(best, d.candidates[i].Latency.Smoothed)
	}
	band := time.Duration(float64(best) * (1 + LatencyBand))
	return d.keep(in, Slower, func(c *Candidate) bool { return c.Latency.Smoothed <= band })
}
