package impact // inside: it uses newlyUnused and worstFirst, which only the comparison of whole views calls

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

// The effects of a plan do not list servers that have no clients before the plan.
func TestNewlyUnused_OmitsServersWithoutClientsBefore(t *testing.T) {
	answers := func(weights ...int) []explain.RegionAnswer {
		basis := &policy.DecisionInput{Rules: &policy.Rules{Algorithm: policy.Weighted}}
		for i, weight := range weights {
			basis.Candidates = append(basis.Candidates, policy.Candidate{Weight: weight, Share: 1, AddressCount: 9,
				MayServe: true,
				Address:  netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + i)}), Port: 80})
		}
		return []explain.RegionAnswer{{Everybody: true, Decision: basis.Decide(policy.IPv4, policy.ClientLocation{})}}
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

// Names without any answer are the worst losses.
func TestWorstFirst_OrdersLosses(t *testing.T) {
	losses := []api.Consequence{
		{Name: "a.example", Answer: api.AnswerLastResort, Serving: 0, Minimum: 1},
		{Name: "b.example", Answer: api.AnswerNone, Serving: 1, Minimum: 2},
		{Name: "c.example", Answer: api.AnswerNone, Serving: 0, Minimum: 1},
	}
	slices.SortFunc(losses, worstFirst)
	if losses[0].Name != "c.example" || losses[1].Name != "b.example" {
		t.Errorf("the order: %+v", losses)
	}
}
