// Package dns_test shows what DNS answers: to whom, by which policy, and why.
package dns_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

// site is a test bed's site, with what only these tests ask of one.
type site struct{ *testbed.Site }

func newSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	return &site{testbed.NewSite(t, nodes, backends)}
}

func startSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	return &site{testbed.StartSite(t, nodes, backends)}
}
