package explain // inside: it converts its own decisions to records

import (
	"fmt"
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/policy"
)

// Targets with the same address, as of CDNs, have separate shares.
func TestRecord_TargetsOfOneAddressHaveTheirOwnShares(t *testing.T) {
	cdn := netip.MustParseAddr("192.0.2.1")
	d := policy.Decision{Algorithm: policy.Weighted, Members: []policy.Member{
		{Address: cdn, Target: "a.cdn.test", Parts: 90}, {Address: cdn, Target: "b.cdn.test", Parts: 10}}}
	const want = "[{a.cdn.test 0.9} {b.cdn.test 0.1}]"
	if got := fmt.Sprint((&RegionAnswer{Decision: d}).Record().Addresses); got != want {
		t.Errorf("routing answers: %s, want %s", got, want)
	}
	if got := fmt.Sprint((&WouldBe{Decision: d}).record().Answers); got != want {
		t.Errorf("what would be: %s, want %s", got, want)
	}
}
