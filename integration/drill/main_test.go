// Package drill_test runs the situations of an on-call week, one after the other, on one cluster of real processes.
package drill_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
