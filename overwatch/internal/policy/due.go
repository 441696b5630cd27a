package policy

import (
	"math"
	"net/netip"
	"slices"
)

// sharePrecision is into how many parts a full share divides. The registry's shares are whole twentieths, which are
// counted exactly and keep schedules short.
const sharePrecision = 100

// due gives each address its parts: weight (1 where the algorithm ignores weights) times share. Backends on several
// ports of one address are one address to a DNS client, so their parts add up.
func due(candidates []Candidate, in []int, algorithm *Algorithm) []Due {
	out := make([]Due, 0, len(in))
	whole := divisible(candidates, in, algorithm)
	for _, i := range in {
		c := &candidates[i]
		weight := max(c.Weight, 1)
		if algorithm.IgnoresWeights {
			weight = 1
		}
		share := int(math.Round(min(max(c.Share, 0), 1) * sharePrecision))
		parts := weight * max(share, 1) * whole
		if !algorithm.IgnoresWeights {
			parts = max(parts/max(c.Among, 1), 1)
		}
		at, known := slices.BinarySearchFunc(out, c.Address, func(d Due, a netip.Addr) int { return d.Address.Compare(a) })
		if known {
			out[at].Parts += parts
		} else { // mostly at the end, since candidates come in the order of addresses
			out = slices.Insert(out, at, Due{c.Address, parts})
		}
	}
	return out
}

// maxWhole bounds the common multiple of the numbers of addresses that share a weight: beyond it, their shares are
// rounded, by less than a thousandth.
const maxWhole = 2520

// divisible returns a number that each weight is multiplied with, so that addresses that share one get whole parts.
func divisible(candidates []Candidate, in []int, algorithm *Algorithm) int {
	whole := 1
	for _, i := range in {
		among := max(candidates[i].Among, 1)
		if algorithm.IgnoresWeights || whole%among == 0 {
			continue
		}
		a, b := whole, among
		for b != 0 {
			a, b = b, a%b
		}
		if whole = whole / a * among; whole > maxWhole {
			return maxWhole
		}
	}
	return whole
}
