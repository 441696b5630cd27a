// Package faults_test shows what a node does when something is wrong around it: floods, crowds, damaged files, full and
// hanging disks, cut ways, wrong clocks, kills. Most of its tests are rows of the fault matrix.
package faults_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
