package policy

import (
	"math"
	"net/netip"
	"slices"
)

// sharePrecision is into how many parts a full share divides: shares are rounded to whole percents, so that the schedule
// of a backend that bleeds for half a minute is one of a hundred and not new with every tick.
const sharePrecision = 100

// due gives each address its parts: weight (1 for round-robin) times share. Backends on several ports of one address
// are one address to a DNS client, so their parts add up.
func due(candidates []Candidate, in []int, algorithm Algorithm) []Due {
	parts := make(map[netip.Addr]int, len(in))
	for _, i := range in {
		c := &candidates[i]
		weight := max(c.Weight, 1)
		if algorithm == RoundRobin {
			weight = 1
		}
		share := int(math.Round(min(max(c.Share, 0), 1) * sharePrecision))
		parts[c.Address] += weight * max(share, 1)
	}
	out := make([]Due, 0, len(parts))
	for address, n := range parts {
		out = append(out, Due{address, n})
	}
	slices.SortFunc(out, func(a, b Due) int { return a.Address.Compare(b.Address) })
	return out
}
