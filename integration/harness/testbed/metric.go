package testbed

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// Metric reads one sample of a node's metrics. name is that of the series, with its labels. A series that is missing
// fails the test: a counter that only appears with its first event cannot be alerted on.
func Metric(t *testing.T, n *harness.Node, name string) float64 {
	t.Helper()
	return MetricAt(t, n.Prom, name)
}

// MetricAt is Metric for whatever serves metrics at an address.
func MetricAt(t *testing.T, at netip.AddrPort, name string) float64 {
	t.Helper()
	return MetricBy(t, http.DefaultClient, at, name)
}

// MetricBy is MetricAt with a client of the caller's.
func MetricBy(t *testing.T, client *http.Client, at netip.AddrPort, name string) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at.String()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no metric %s", at, name)
	return 0
}

// Memory returns the resident memory of a program, in bytes. The program is found by its configuration file.
func Memory(t *testing.T, configPath string) int64 {
	t.Helper()
	return StatusBytes(t, ProcessOf(t, configPath), "VmRSS:")
}

// StatusBytes reads a line of /proc/PID/status that is in KiB, such as "VmRSS:", and returns octets.
func StatusBytes(t *testing.T, dir, key string) int64 {
	t.Helper()
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, key); found {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("%s/status has no %s", dir, key)
	return 0
}

// ProcessOf finds the /proc directory of the program that was started with a configuration file.
func ProcessOf(t *testing.T, configPath string) string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if cmdline, err := os.ReadFile(path); err == nil && strings.Contains(string(cmdline), "\x00"+configPath+"\x00") {
			return filepath.Dir(path)
		}
	}
	t.Fatalf("no process was started with %s", configPath)
	return ""
}

// Scrape returns the whole page of metrics at an address.
func Scrape(t *testing.T, at string) string {
	t.Helper()
	resp, err := http.Get("http://" + at + "/metrics")
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
