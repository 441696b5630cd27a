package httpapi // inside: it converts decisions

import (
	"fmt"
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/policy"
)

// Targets of one address, as CDNs have them, have their own shares.
func TestRouting_TargetsOfOneAddressHaveTheirOwnShares(t *testing.T) {
	cdn := netip.MustParseAddr("192.0.2.1")
	d := policy.Decision{Algorithm: policy.Weighted, Due: []policy.Due{
		{Address: cdn, Target: "a.cdn.test", Parts: 90}, {Address: cdn, Target: "b.cdn.test", Parts: 10}}}
	const want = "[{a.cdn.test 0.9} {b.cdn.test 0.1}]"
	if got := fmt.Sprint(routingAnswer(&explain.RegionAnswer{Decision: d}).Addresses); got != want {
		t.Errorf("routing answers: %s, want %s", got, want)
	}
	if got := fmt.Sprint(wouldBe(explain.WouldBe{Decision: d}).Answers); got != want {
		t.Errorf("what would be: %s, want %s", got, want)
	}
}
