package document // inside: it calls forceReasons and compare, of which plans show only the result

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
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

// A document of this version lacks the fields of a later version, which the stored object has.
func TestCompare_KeepsTheFieldsOfLaterVersions(t *testing.T) {
	held, wanted := newObjects(), newObjects()
	later := map[string]json.RawMessage{"colour": json.RawMessage(`"red"`)}
	held.of[model.KindRegion]["eu"] = &model.Region{Name: "eu", Meta: model.Meta{Owner: "shop", Extra: later}}
	wanted.of[model.KindRegion]["eu"] = &model.Region{Name: "eu", Description: "changed"}
	p := new(Planner).compare(t.Context(), Request{Owner: "shop"}, wanted, held, time.Now())
	put, _ := p.put.of[model.KindRegion]["eu"].(*model.Region)
	if put == nil || put.Description != "changed" || string(put.Extra["colour"]) != `"red"` {
		t.Errorf("the plan puts %+v, with the problems %v", put, p.problems)
	}
}
