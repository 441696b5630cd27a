package httpapi // inside: it uses newlyUnused, worstFirst and documentPlan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

// A plan is not blamed for servers that have no clients anyway.
func TestNewlyUnused_LeavesOutServersThatHadNoClients(t *testing.T) {
	answers := func(weights ...int) []explain.RegionAnswer {
		basis := &policy.Basis{Rules: &policy.Rules{Algorithm: policy.Weighted}}
		for i, weight := range weights {
			basis.Candidates = append(basis.Candidates, policy.Candidate{Weight: weight, Share: 1, Among: 9, MayServe: true,
				Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + i)}), Port: 80})
		}
		return []explain.RegionAnswer{{Everybody: true, Decision: basis.Decide(policy.IPv4, policy.Spot{})}}
	}
	for _, c := range []struct {
		was, is []explain.RegionAnswer
		want    string
	}{
		{answers(1, 0), answers(1, 0), "[]"},
		{answers(1, 1, 0), answers(1, 0, 0), "[192.0.2.2:80]"},
		{answers(1), answers(1, 0), "[192.0.2.2:80]"}, // a new one
		{nil, answers(1, 0), "[192.0.2.2:80]"},
		{answers(1, 0), nil, "[]"},
	} {
		if got := fmt.Sprint(newlyUnused(c.was, c.is, policy.IPv4)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// The list has all reasons, the worst reason first.
func TestForceReasons_TheWorstIsFirst(t *testing.T) {
	losses := []api.Consequence{
		{Name: "a.example", Answer: api.AnswerLastResort, Serving: 0, Minimum: 1, QueryTypes: []string{"A"}},
		{Name: "b.example", Answer: api.AnswerNone, Serving: 1, Minimum: 2, QueryTypes: []string{"A"}},
		{Name: "c.example", Answer: api.AnswerNone, Serving: 0, Minimum: 1, QueryTypes: []string{"A"}},
	}
	slices.SortFunc(losses, worstFirst)
	p := &documentPlan{request: documentBody{Owner: "shop"}, owned: 10, touched: 10}
	reasons := p.forceReasons(losses)
	if len(reasons) != 2 || !strings.HasPrefix(reasons[0], "c.example") ||
		!strings.Contains(reasons[1], "10 of the 10 objects that shop has") {
		t.Errorf("%q", reasons)
	}
	if c, b, a := strings.Index(reasons[0], "c.example"), strings.Index(reasons[0], "b.example"),
		strings.Index(reasons[0], "a.example"); c >= b || b >= a {
		t.Errorf("the order of names: %s", reasons[0])
	}
	if reasons := (&documentPlan{}).forceReasons(nil); reasons == nil || len(reasons) > 0 {
		t.Errorf("a plan without faults has %q", reasons)
	}
}
