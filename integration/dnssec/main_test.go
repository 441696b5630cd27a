// Package dnssec_test tests the signatures of a node with validators that know only its DS record, and the key exchange
// between nodes.
package dnssec_test

import (
	"os"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }
