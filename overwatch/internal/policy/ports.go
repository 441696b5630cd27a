package policy

import (
	"cmp"
	"math"
	"slices"
)

// MaxPorts is the maximum number of ports of a decision. The ports with the greatest parts are selected.
const MaxPorts = 16

// computePorts returns each port with its rounded percentage of the answers, at least 1.
func computePorts(candidates []Candidate, in []int, algorithm *Algorithm) (out []Member) {
	total := 0
	for _, i := range in {
		c := &candidates[i]
		parts := c.partsFor(algorithm)
		total += parts
		at := slices.IndexFunc(out, func(d Member) bool { return d.Port == c.Port })
		if at < 0 {
			at, out = len(out), append(out, Member{Port: c.Port})
		}
		out[at].Parts += parts
	}
	slices.SortFunc(out, func(a, b Member) int { return cmp.Or(b.Parts-a.Parts, cmp.Compare(a.Port, b.Port)) })
	out = out[:min(len(out), MaxPorts)]
	slices.SortFunc(out, func(a, b Member) int { return cmp.Compare(a.Port, b.Port) })
	for i := range out {
		out[i].Parts = max(int(math.Round(100*float64(out[i].Parts)/float64(total))), 1)
	}
	return out
}
