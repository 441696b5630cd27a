package policy

import (
	"cmp"
	"math"
	"slices"
)

// PairFamilies sets PairedIPv6 in each member of v4, for records with addresses of both families. Each IPv6 address
// then has exactly its own share. It does nothing if this is impossible: the shares of IPv6 are not sums of shares of
// IPv4, the groups of the families differ, or v6 assigns client networks to addresses.
func PairFamilies(v4, v6 *Decision) {
	if v4.Group != v6.Group || v4.TTL != v6.TTL || v6.Hashed || len(v4.Members)*len(v6.Members) == 0 {
		return
	}
	parts4, sum4 := leastParts(partsOf(v4.Members))
	parts6, sum6 := leastParts(partsOf(v6.Members))
	if max(sum4, sum6) > math.MaxInt32 { // prevents an overflow of the product
		return
	}
	order4, order6 := sortByParts(v4.Members), sortByParts(v6.Members)
	beside := make([]int, len(v4.Members))
	next, left := 0, 0 // index in order6, and remaining share of its member, in units of 1/(sum4*sum6)
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
		v4.Members[i].PairedIPv6 = v6.Members[j].Address
	}
}

// sortByParts returns the indexes of list by descending parts, so that the two addresses of a backend are usually
// paired.
func sortByParts(list []Member) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].Parts, list[a].Parts) })
	return order
}
