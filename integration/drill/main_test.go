// Package drill_test plays the situations of an on-call week, one after the other, against one cluster of real
// processes.
package drill_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
