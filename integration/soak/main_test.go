// Package soak_test holds the invariants against every answer while random faults happen.
package soak_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
