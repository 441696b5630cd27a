//go:build !race

package explain // inside: it uses portionsOf

import (
	"net/netip"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// TestPortions_CostGrowsWithTheNumberOfBackends limits the time for a name with 100 000 backends, half of them serving.
// The time is about 0.1 s. A search of all backends for each backend would take more than 5 s.
func TestPortions_CostGrowsWithTheNumberOfBackends(t *testing.T) {
	const count, most = 100_000, time.Second
	basis := &policy.DecisionInput{Rules: &policy.Rules{Algorithm: policy.Weighted}}
	for i := range count {
		basis.Candidates = append(basis.Candidates, policy.Candidate{Weight: 1, Share: 1, AddressCount: 9, MayServe: i%2 == 0,
			Address: netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})})
	}
	answers := []RegionAnswer{{Decision: basis.Decide(policy.IPv4, policy.ClientLocation{})}}
	best := time.Hour
	for range 3 {
		began := time.Now()
		if parts := portionsOf(answers)[""]; len(parts) != count/2 {
			t.Fatalf("%d of %d backends have a part", len(parts), count)
		}
		if best = min(best, time.Since(began)); best < most {
			break
		}
	}
	t.Logf("%d backends take %v", count, best)
	if best > most {
		t.Errorf("%d backends take %v, allowed is %v", count, best, most)
	}
}
