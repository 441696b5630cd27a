// Package dnssec_test holds what a node signs against validators that know its DS record alone, and the exchange of
// keys between nodes.
package dnssec_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
