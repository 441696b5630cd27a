package policy

import (
	"cmp"
	"math"
	"slices"
)

// Pair sets Beside, an address of IPv6, in each Due of v4, for records that have addresses of both families. Each
// address of IPv6 then has exactly its own share, too. Pair does nothing where that is impossible: the shares of IPv6
// are no sums of those of IPv4, the families are served by different groups, or a client keeps to one of several
// addresses of IPv6.
func Pair(v4, v6 *Decision) {
	if v4.Group != v6.Group || v4.TTL != v6.TTL || v6.Hashed || len(v4.Due)*len(v6.Due) == 0 {
		return
	}
	parts4, sum4 := leastParts(partsOf(v4.Due))
	parts6, sum6 := leastParts(partsOf(v6.Due))
	if max(sum4, sum6) > math.MaxInt32 { // which their product has room for
		return
	}
	order4, order6 := greatestFirst(v4.Due), greatestFirst(v6.Due)
	beside := make([]int, len(v4.Due))
	next, left := 0, 0 // of v6, and what is left of its share, as all shares in parts of sum4*sum6
	for _, i := range order4 {
		if left == 0 {
			left = parts6[order6[next]] * sum4
			next++
		}
		if left -= parts4[i] * sum6; left < 0 {
			return
		}
		beside[i] = order6[next-1]
	}
	for i, j := range beside {
		v4.Due[i].Beside = v6.Due[j].Address
	}
}

// greatestFirst returns the indexes of list, the greatest parts first, so that the two addresses of one backend mostly
// meet.
func greatestFirst(list []Due) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].Parts, list[a].Parts) })
	return order
}
