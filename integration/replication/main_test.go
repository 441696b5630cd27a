// Package replication_test tests the replication of operators' decisions between three nodes while one of the nodes
// fails.
package replication_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
