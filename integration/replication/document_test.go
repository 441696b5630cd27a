package replication_test

import (
	"testing"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// A document that is applied on one node reaches the other nodes completely, with its owner, also a node that was down.
func TestDocument_AppliedOnOneNodeReachesAll(t *testing.T) {
	t.Parallel()
	s := site(t)
	for _, n := range s.Nodes[:2] {
		testbed.Start(t, n)
		s.Ready(t, n)
	}
	const name, address = "shop.test.gslb.test", "192.0.2.7"
	request := api.ApplyRequest{Owner: "shop", Prune: true, Document: api.Document{
		Domains: []api.DocumentDomain{{"name": name, "regions": []string{"eu"}}},
		Servers: []api.DocumentServer{{"service": name, "address": address, "port": 80,
			"region": "eu"}},
	}}
	apply := func(node, changes int) {
		t.Helper()
		plan, err := s.Nodes[node].Client.Apply(t.Context(), request)
		if err != nil || !plan.Applied || len(plan.Changes) != changes {
			t.Fatalf("apply: %+v, %v", plan, err)
		}
	}
	apply(0, 2)
	override(t, s.Nodes[0], name, address, true)
	answers(t, name, []string{address}, s.Nodes[:2]...)
	testbed.Start(t, s.Nodes[2])
	s.Ready(t, s.Nodes[2])
	answers(t, name, []string{address}, s.Nodes...)
	apply(2, 0) // with the owner, or it would be a change
	request.Document = api.Document{}
	apply(2, 2)
	answers(t, name, nil, s.Nodes...)
}
