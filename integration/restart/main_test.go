// Package restart_test shows how programs stop and hand over without a lookup lost.
package restart_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
