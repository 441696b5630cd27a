package integration_test

import (
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// site is a test bed's site, with what tests of several topics ask of one.
type site struct{ *testbed.Site }

func newSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	return &site{testbed.NewSite(t, nodes, backends)}
}

func startSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	return &site{testbed.StartSite(t, nodes, backends)}
}
