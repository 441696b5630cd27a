package integration_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) {
	if os.Getenv(echoPart) != "" {
		os.Exit(playEcho())
	}
	os.Exit(testbed.Main(m))
}
