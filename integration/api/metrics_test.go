package api_test

import (
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// Metrics and API may share one address.
func TestMetrics_ShareTheAddressOfTheAPI(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 0)
	n := s.Nodes[0]
	n.File.Metrics.Address = n.File.API.Address
	startAPI(t, n)
	at := n.API.String()
	for path, words := range map[string]string{"/metrics": "gslb_overwatch_ready ", "/api/v1/live": `"alive":true`,
		"/": "/api/docs"} {
		answer, err := speak(t, at, lines("GET", path, ""))
		if err != nil || answer.status != 200 || !strings.Contains(answer.body, words) {
			t.Errorf("%s: %d, %v, %.200s", path, answer.status, err, answer.body)
		}
	}
}
