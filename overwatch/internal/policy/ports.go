package policy

import (
	"cmp"
	"math"
	"slices"
)

// MaxPorts bounds the ports of a decision: of more, those with the greatest parts are kept.
const MaxPorts = 16

// ports returns each port with its part of a hundred, rounded and at least 1: that of the backends which listen there.
func ports(candidates []Candidate, in []int, algorithm *Algorithm) (out []Due) {
	total := 0
	for _, i := range in {
		c := &candidates[i]
		parts := c.parts(algorithm)
		total += parts
		at := slices.IndexFunc(out, func(d Due) bool { return d.Port == c.Port })
		if at < 0 {
			at, out = len(out), append(out, Due{Port: c.Port})
		}
		out[at].Parts += parts
	}
	slices.SortFunc(out, func(a, b Due) int { return cmp.Or(b.Parts-a.Parts, cmp.Compare(a.Port, b.Port)) })
	out = out[:min(len(out), MaxPorts)]
	slices.SortFunc(out, func(a, b Due) int { return cmp.Compare(a.Port, b.Port) })
	for i := range out {
		out[i].Parts = max(int(math.Round(100*float64(out[i].Parts)/float64(total))), 1)
	}
	return out
}
