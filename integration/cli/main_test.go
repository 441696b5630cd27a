// Package cli_test tests gslbctl, the options of the programs and the demo, with and without a terminal.
package cli_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

// site is a site of the test bed with the methods of these tests.
type site struct{ *testbed.Site }

func newSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	return &site{testbed.NewSite(t, nodes, backends)}
}

func startSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	return &site{testbed.StartSite(t, nodes, backends)}
}
