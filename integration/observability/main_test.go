// Package observability_test shows that metrics, alerts and the dashboard tell what is so.
package observability_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
