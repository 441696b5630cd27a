// Package api_test shows the HTTP API from outside, and that what it acknowledged holds.
package api_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
