package docs_test

import (
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// Each role's manual contains every metric of the role, and the node's manual contains no other metric.
func TestManuals_HaveEveryMetric(t *testing.T) {
	s := testbed.NotifiedSite(t, 1, 1)
	for path, at := range map[string]netip.AddrPort{"../../overwatch/docs/metrics.md": s.Nodes[0].Prom,
		"../../agent/README.md": s.Agents[0].Prom} {
		served := families(t, at)
		text := testbed.Read(t, path)
		documented := map[string]bool{}
		for _, name := range regexp.MustCompile("`(gslb_[a-z_]+)").FindAllStringSubmatch(text, -1) {
			documented[name[1]] = true
		}
		for name := range served {
			if !documented[name] {
				t.Errorf("%s does not have %s", path, name)
			}
		}
		for name := range documented {
			// Some metrics of an agent appear with the first event, because their labels are unknown before it. Metrics of
			// peers, of the cluster's name, of zones, dnstap and the query log depend on the configuration.
			if !served[name] && at == s.Nodes[0].Prom && !testbed.AppearsWithEvents(name) &&
				!strings.HasPrefix(name, "gslb_replication_peer_") && !strings.HasPrefix(name, "gslb_zone_") &&
				!strings.HasPrefix(name, "gslb_dnstap_") && !strings.HasPrefix(name, "gslb_query_log_") &&
				name != "gslb_overwatch_cluster_info" {
				t.Errorf("%s has %s, which is not served", path, name)
			}
		}
	}
}

// families returns the names of our metrics at an address.
func families(t *testing.T, at netip.AddrPort) map[string]bool {
	t.Helper()
	resp, err := http.Get("http://" + at.String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (gslb_\w+)`).FindAllSubmatch(body, -1) {
		names[string(line[1])] = true
	}
	return names
}
