package console_test

import (
	"testing"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The page of a name shows a region that awaits failback, and returns its clients.
func TestConsole_ReturnsTheClientsOfARegion(t *testing.T) {
	t.Parallel()
	s, p := startScene(t), newPage(t)
	node := s.nodes[0]
	if _, err := node.Client.ChangeDomain(t.Context(), webName, api.DomainChange{"failback": "manual"}); err != nil {
		t.Fatal(err)
	}
	p.open(node.Client.Node(), "names/"+webName)
	p.reads("h1", webName)
	for _, b := range s.backends[2:4] {
		testbed.Kill(t, b)
	}
	p.reads("section", "awaits failback", "cannot serve: 0 of 1 backends")
	for _, b := range s.backends[2:4] {
		testbed.Start(t, b)
	}
	p.reads("section", "can serve since")
	p.click("section[aria-labelledby=failback] button")
	p.reads("section", "the clients of us return in the answers for "+webName)
	if said := p.complaints(); len(said) > 0 {
		t.Error(said)
	}
}
