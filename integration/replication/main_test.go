// Package replication_test holds what operators decide on one of three nodes, and what the others answer, whatever
// happens to one of them meanwhile.
package replication_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
