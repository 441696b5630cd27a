package policy

import (
	"math"
	"slices"
	"strings"
)

// sharePrecision is the number of parts of a full share. The registry's shares are whole twentieths, which are counted
// exactly and keep schedules short.
const sharePrecision = 100

// due returns each address with its parts: weight (1 where the algorithm ignores weights) times share. Backends on
// several ports of one address are one address to a DNS client, so their parts add up. With names, it returns each
// target with the parts of its addresses that are left, which have its weight between them.
func due(names bool, candidates []Candidate, in []int, algorithm *Algorithm) []Due {
	out := make([]Due, 0, len(in))
	left := addressesLeft(names, candidates, in)
	among := func(c *Candidate) int {
		switch {
		case names:
			return left[server{c.Target, c.Port}]
		case algorithm.IgnoresWeights:
			return 1
		}
		return max(c.Among, 1)
	}
	whole := divisible(candidates, in, among)
	for _, i := range in {
		c := &candidates[i]
		one := Due{Address: c.Address, Parts: max(c.parts(algorithm)*whole/among(c), 1)}
		if names {
			one.Target = c.Target
		}
		at, known := slices.BinarySearchFunc(out, one, compareDue)
		if known {
			out[at].Parts += one.Parts
		} else { // mostly at the end, since candidates come in the order of addresses
			out = slices.Insert(out, at, one)
		}
	}
	return out
}

// parts returns the weight of a candidate times its share in hundredths, at least 1.
func (c *Candidate) parts(algorithm *Algorithm) int {
	weight := max(c.Weight, 1)
	if algorithm.IgnoresWeights {
		weight = 1
	}
	return weight * max(int(math.Round(min(max(c.Share, 0), 1)*sharePrecision)), 1)
}

// server identifies a server that was declared by its host name.
type server struct {
	target string
	port   uint16
}

// addressesLeft counts the addresses that may answer for each server, nil without names.
func addressesLeft(names bool, candidates []Candidate, in []int) map[server]int {
	if !names {
		return nil
	}
	left := make(map[server]int)
	for _, i := range in {
		left[server{candidates[i].Target, candidates[i].Port}]++
	}
	return left
}

func compareDue(a, b Due) int {
	if a.Target != "" {
		return strings.Compare(a.Target, b.Target)
	}
	return a.Address.Compare(b.Address)
}

// maxWhole bounds the common multiple of the numbers of addresses that share a weight: beyond it, their shares are
// rounded, by less than a thousandth.
const maxWhole = 2520

// divisible returns a number to multiply all weights with, so that addresses that share a weight get whole parts.
func divisible(candidates []Candidate, in []int, among func(*Candidate) int) int {
	whole := 1
	for _, i := range in {
		n := among(&candidates[i])
		if whole%n == 0 {
			continue
		}
		if whole = whole / gcd(whole, n) * n; whole > maxWhole {
			return maxWhole
		}
	}
	return whole
}
