// Package trust_test holds what an agent may make a node do against agents that mean ill: real identities, the
// octets of gslb-agent, real nodes.
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

// has reports whether a text has all the words, whatever their case.
func has(text string, words ...string) bool {
	for _, w := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			return false
		}
	}
	return true
}
