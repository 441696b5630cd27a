// Package trust_test tests the limits of an agent's influence on a node, with malicious agents: real identities, the
// octets of gslb-agent, and real nodes.
package trust_test

import (
	"os"
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) {
	if os.Getenv(worstPart) != "" {
		os.Exit(playWorst())
	}
	os.Exit(testbed.Main(m))
}

// has reports whether a text contains all the words, without regard to case.
func has(text string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			return false
		}
	}
	return true
}
