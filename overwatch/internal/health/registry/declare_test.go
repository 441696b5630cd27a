package registry // inside: it uses groupByService

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

// For any order of the declarations, the result groups them by service and sorts them by endpoint. The services are in
// the order of their first declarations.
func TestByService_PutsTheDeclarationsOfAServiceTogether(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		var declarations []Declaration
		for region := range 4 {
			services := random.Perm(5)
			if seed%2 == 0 {
				slices.Sort(services) // as in most files
			}
			for _, service := range services {
				for port := range uint16(random.IntN(3)) {
					declarations = append(declarations, Declaration{
						ID: ID{fmt.Sprintf("S%d.gslb.test.", service), netip.AddrFrom4([4]byte{10, 0, byte(9 - region), 1}), 2 - port}})
				}
			}
		}
		order, err := groupByService(declarations)
		if err != nil {
			t.Fatal(err)
		}
		first := map[string]int{} // position of the first declaration of a service
		for i, d := range declarations {
			if _, known := first[d.ID.Service]; !known {
				first[d.ID.Service] = i
			}
		}
		want := make([]int32, len(declarations))
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortFunc(want, func(a, b int32) int {
			x, y := declarations[a].ID, declarations[b].ID
			if x.Service != y.Service {
				return first[x.Service] - first[y.Service]
			}
			return x.compareEndpoint(y)
		})
		if !slices.Equal(order, want) {
			t.Fatalf("seed %d: order %v, want %v", seed, order, want)
		}
	}
}
