package policy

import (
	"math"
	"slices"
	"strings"
)

// sharePrecision is into how many parts a full share divides. The registry's shares are whole twentieths, which are
// counted exactly and keep schedules short.
const sharePrecision = 100

// due gives each address its parts: weight (1 where the algorithm ignores weights) times share. Backends on several
// ports of one address are one address to a DNS client, so their parts add up. With names, it gives each target its
// parts: those of the addresses that are left, which have its weight between them.
func due(names bool, candidates []Candidate, in []int, algorithm *Algorithm) []Due {
	out := make([]Due, 0, len(in))
	whole := divisible(names, candidates, in, algorithm)
	for _, i := range in {
		c := &candidates[i]
		parts := max(c.parts(algorithm)*whole/sharers(names, candidates, in, c, algorithm), 1)
		one := Due{Address: c.Address, Parts: parts}
		if names {
			one.Target = c.Target
		}
		at, known := slices.BinarySearchFunc(out, one, compareDue)
		if known {
			out[at].Parts += parts
		} else { // mostly at the end, since candidates come in the order of addresses
			out = slices.Insert(out, at, one)
		}
	}
	return out
}

// parts returns the weight of a candidate times its share, at least 1.
func (c *Candidate) parts(algorithm *Algorithm) int {
	weight := max(c.Weight, 1)
	if algorithm.IgnoresWeights {
		weight = 1
	}
	return weight * max(int(math.Round(min(max(c.Share, 0), 1)*sharePrecision)), 1)
}

func compareDue(a, b Due) int {
	if a.Target != "" {
		return strings.Compare(a.Target, b.Target)
	}
	return a.Address.Compare(b.Address)
}

// sharers returns how many of those that are left share the weight that a candidate has.
func sharers(names bool, candidates []Candidate, in []int, c *Candidate, algorithm *Algorithm) int {
	switch {
	case names:
		count := 0
		for _, i := range in {
			if o := &candidates[i]; o.Target == c.Target && o.Port == c.Port {
				count++
			}
		}
		return count
	case algorithm.IgnoresWeights:
		return 1
	}
	return max(c.Among, 1)
}

// maxWhole bounds the common multiple of the numbers of addresses that share a weight: beyond it, their shares are
// rounded, by less than a thousandth.
const maxWhole = 2520

// divisible returns a number that each weight is multiplied with, so that addresses that share one get whole parts.
func divisible(names bool, candidates []Candidate, in []int, algorithm *Algorithm) int {
	whole := 1
	for _, i := range in {
		n := sharers(names, candidates, in, &candidates[i], algorithm)
		if whole%n == 0 {
			continue
		}
		if whole = whole / gcd(whole, n) * n; whole > maxWhole {
			return maxWhole
		}
	}
	return whole
}
