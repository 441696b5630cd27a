package testbed

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// Metric reads a sample of a node's metrics. name is the name of the series, with its labels. A missing series fails
// the test, because alerts need counters that exist before their first event.
func Metric(t *testing.T, n *harness.Node, name string) float64 {
	t.Helper()
	return MetricBy(t, http.DefaultClient, n.Prom, name)
}

// MetricBy is Metric for any server of metrics at an address, with the caller's client.
func MetricBy(t *testing.T, client *http.Client, at netip.AddrPort, name string) float64 {
	t.Helper()
	for line := range strings.Lines(page(t, client, at.String())) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no metric %s", at, name)
	return 0
}

// AppearsWithEvents reports whether a metric of a node has no series before the first answer, or the first own check,
// of a domain.
func AppearsWithEvents(name string) bool {
	return name == "gslb_domain_answers_total" || name == "gslb_backend_check_duration_seconds"
}

// Scrape returns the whole page of metrics at an address.
func Scrape(t *testing.T, at string) string {
	t.Helper()
	return page(t, http.DefaultClient, at)
}

func page(t *testing.T, client *http.Client, at string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
