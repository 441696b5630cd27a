// Package upgrade_test tests packages, images, versions, and the upgrade and downgrade of a fleet.
package upgrade_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

// site is a site of the test bed, with additional methods for these tests.
type site struct{ *testbed.Site }

func newSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	return &site{testbed.NewSite(t, nodes, backends)}
}
