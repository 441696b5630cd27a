// Package upgrade_test shows packages, images, versions, and how a fleet goes from one version to the next and back.
package upgrade_test

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
