package policy

import (
	"cmp"
	"slices"
)

// reduceParts divides the parts by their greatest common divisor. If the sum exceeds limit, it rounds them by the
// largest remainder method, so that the sum is limit and each part is at least 1. limit is at least the number of
// parts.
func reduceParts(parts []int, limit int) []int {
	out, sum := leastParts(parts)
	if sum <= limit {
		return out
	}
	return apportion(out, sum, limit)
}

// apportion assigns 1 to each part and distributes the rest of limit proportionally, by largest remainder.
func apportion(parts []int, sum, limit int) []int {
	type remainder struct{ of, left int }
	rest := limit - len(parts)
	given := 0
	out := make([]int, len(parts))
	left := make([]remainder, len(parts))
	for i, n := range parts {
		// The share in addition to the 1 of each part.
		due := max(n*limit-sum, 0)
		out[i] = 1 + due/sum
		left[i] = remainder{i, due % sum}
		given += out[i] - 1
	}
	slices.SortStableFunc(left, func(a, b remainder) int { return cmp.Compare(b.left, a.left) })
	for i := 0; given < rest; i = (i + 1) % len(left) {
		out[left[i].of]++
		given++
	}
	for i := len(left) - 1; given > rest; i = (i + len(left) - 1) % len(left) {
		if of := left[i].of; out[of] > 1 {
			out[of]--
			given--
		}
	}
	return out
}

// partsOf returns the parts of each member of list.
func partsOf(list []Member) []int {
	parts := make([]int, len(list))
	for i, d := range list {
		parts[i] = d.Parts
	}
	return parts
}

// leastParts returns the parts divided by their greatest common divisor, and their sum.
func leastParts(parts []int) (least []int, sum int) {
	divisor := 0
	for _, n := range parts {
		divisor = gcd(divisor, n)
	}
	least = slices.Clone(parts)
	for i := range least {
		least[i] /= divisor
		sum += least[i]
	}
	return least, sum
}

// gcd returns the greatest common divisor.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
