// Package api_test tests the HTTP API from outside, and the persistence of acknowledged changes.
package api_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
