package policy

import (
	"slices"
	"time"
)

// How much slower than the fastest backend, as a part of its latency, another may be and still share with it: to come
// in, and to stay in. In between, what changes is noise, and clients keep what they have.
const (
	LatencyBand = 0.1
	LatencyHold = 0.25
)

// qualifies says whether a backend was measured often enough and is not above the limit.
func qualifies(c *Candidate, rules *Rules) bool { return measured(c, rules) && inTime(c, rules) }

func measured(c *Candidate, rules *Rules) bool { return c.Latency.Samples >= max(rules.MinSamples, 1) }

func inTime(c *Candidate, rules *Rules) bool {
	return rules.MaxLatency <= 0 || c.Latency.Smoothed <= rules.MaxLatency
}

// fastest is latency: of the candidates that qualify, those within the band of the fastest; without such, all. group is whose
// candidates they are: another one's may have shared with others.
func (d *decider) fastest(in []int, rules *Rules, group string) []int {
	if !d.hasData(Latency, in, rules) {
		return in
	}
	in = d.keep(in, FewSamples, func(c *Candidate) bool { return measured(c, rules) })
	in = d.keep(in, TooSlow, func(c *Candidate) bool { return inTime(c, rules) })
	best := d.candidates[in[0]].Latency.Smoothed
	for _, i := range in {
		best = min(best, d.candidates[i].Latency.Smoothed)
	}
	return d.keep(in, Slower, func(c *Candidate) bool {
		band := LatencyBand
		if slices.Contains(c.Latency.Held, group) {
			band = LatencyHold
		}
		return c.Latency.Smoothed <= time.Duration(float64(best)*(1+band))
	})
}
