package policy

import (
	"math"
	"slices"
	"strings"
)

// sharePrecision is the number of parts of a full share. The shares of the registry are multiples of 1/20, which this
// precision represents exactly with short schedules.
const sharePrecision = 100

// computeMembers returns each address with its parts: weight (1 if the algorithm ignores weights) times share. Backends
// on several ports of an address form one member, with the sum of their parts. With names, it returns each target; its
// remaining addresses share its weight.
func computeMembers(names bool, candidates []Candidate, in []int, algorithm *Algorithm) []Member {
	out := make([]Member, 0, len(in))
	left := countRemainingAddresses(names, candidates, in)
	among := func(c *Candidate) int {
		switch {
		case names:
			return left[server{c.Target, c.Port}]
		case algorithm.IgnoresWeights:
			return 1
		}
		return max(c.AddressCount, 1)
	}
	whole := commonMultiple(candidates, in, among)
	for _, i := range in {
		c := &candidates[i]
		one := Member{Address: c.Address, Parts: max(c.partsFor(algorithm)*whole/among(c), 1)}
		if names {
			one.Target = c.Target
		}
		at, known := slices.BinarySearchFunc(out, one, compareMembers)
		if known {
			out[at].Parts += one.Parts
		} else { // usually at the end, because candidates are sorted by address
			out = slices.Insert(out, at, one)
		}
	}
	return out
}

// partsFor returns the weight of a candidate times its share in hundredths, at least 1.
func (c *Candidate) partsFor(algorithm *Algorithm) int {
	weight := max(c.Weight, 1)
	if algorithm.IgnoresWeights {
		weight = 1
	}
	return weight * max(int(math.Round(min(max(c.Share, 0), 1)*sharePrecision)), 1)
}

// server identifies a server declared by host name.
type server struct {
	target string
	port   uint16
}

// countRemainingAddresses returns the number of remaining addresses of each server; nil without names.
func countRemainingAddresses(names bool, candidates []Candidate, in []int) map[server]int {
	if !names {
		return nil
	}
	left := make(map[server]int)
	for _, i := range in {
		left[server{candidates[i].Target, candidates[i].Port}]++
	}
	return left
}

// compareMembers compares members by target or address.
func compareMembers(a, b Member) int {
	if a.Target != "" {
		return strings.Compare(a.Target, b.Target)
	}
	return a.Address.Compare(b.Address)
}

// maxMultiple is the maximum common multiple of the address counts. Beyond it, shares are rounded by less than 1/1000.
const maxMultiple = 2520

// commonMultiple returns a factor for all weights, so that addresses that share a weight have integral parts.
func commonMultiple(candidates []Candidate, in []int, among func(*Candidate) int) int {
	whole := 1
	for _, i := range in {
		n := among(&candidates[i])
		if whole%n == 0 {
			continue
		}
		if whole = whole / gcd(whole, n) * n; whole > maxMultiple {
			return maxMultiple
		}
	}
	return whole
}
