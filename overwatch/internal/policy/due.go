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
	for _, i := range in {
		c := &candidates[i]
		weight := max(c.Weight, 1)
		if algorithm.IgnoresWeights {
			weight = 1
		}
		share := int(math.Round(min(max(c.Share, 0), 1) * sharePrecision))
		parts := weight * max(share, 1)
		at, known := slices.BinarySearchFunc(out, c.Address, func(d Due, a netip.Addr) int { return d.Address.Compare(a) })
		if known {
			out[at].Parts += parts
		} else { // mostly at the end, since candidates come in the order of addresses
			out = slices.Insert(out, at, Due{c.Address, parts})
		}
	}
	return out
}
