// Package scale_test measures the cost of many agents and many names, and contains the benchmarks with real processes.
package scale_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) {
	if os.Getenv(fleetPart) != "" {
		os.Exit(playFleet())
	}
	os.Exit(testbed.Main(m))
}
