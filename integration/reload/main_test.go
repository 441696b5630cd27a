// Package reload_test tests the effects of SIGHUP and POST /reload.
package reload_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
