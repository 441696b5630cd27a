// Package scale_test shows what many agents and many names cost, and has the benchmarks with real processes.
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
