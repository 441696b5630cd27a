// Package faults_test tests a node during faults of its environment: floods, many connections, damaged files, full and
// hanging disks, network partitions, wrong clocks, kills. Most of its tests are rows of the fault matrix.
package faults_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
