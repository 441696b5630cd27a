// Package spelling measures the distance between a mistyped name and a known name. Package settings and gslbctl call
// it.
package spelling

// Distance returns the number of edits from a to b: an octet changed, added or removed, or two neighboring octets
// swapped (optimal string alignment).
func Distance(a, b string) int {
	before, previous := []int(nil), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current := make([]int, len(b)+1)
		current[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous = previous, current
	}
	return previous[len(b)]
}
