package document // inside: it calls forceReasons, of which plans show only the result

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

// The list has all reasons, the worst reason first.
func TestForceReasons_TheWorstIsFirst(t *testing.T) {
	losses := []api.Consequence{
		{Name: "c.example", Answer: api.AnswerNone, Serving: 0, Minimum: 1, QueryTypes: []string{"A"}},
	}
	p := &Plan{request: Request{Owner: "shop"}, owned: 10, touched: 10}
	reasons := p.forceReasons(losses)
	if len(reasons) != 2 || !strings.HasPrefix(reasons[0], "c.example") ||
		!strings.Contains(reasons[1], "10 of the 10 objects that shop has") {
		t.Errorf("%q", reasons)
	}
	if reasons := (&Plan{}).forceReasons(nil); reasons == nil || len(reasons) > 0 {
		t.Errorf("a plan without faults has %q", reasons)
	}
}
