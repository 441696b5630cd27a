package observability_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
)

// A real Prometheus discovers the nodes, agents and backends of a site by HTTP.
func TestDiscovery_PrometheusFindsTargets(t *testing.T) {
	t.Parallel()
	program := testbed.Judge(t, "prometheus")
	s := testbed.NewSite(t, 1, 2)
	s.StartAll(t)
	n, at := s.Nodes[0], testbed.UnusedAddress(t)
	config := "global: {scrape_interval: 1s}\nscrape_configs:\n"
	for _, role := range []string{"nodes", "agents", "backends"} {
		query := "role=" + role
		if role == "nodes" {
			query += fmt.Sprintf("&port=%d", n.Prom.Port())
		}
		config += fmt.Sprintf("- job_name: %s\n  http_sd_configs: [{url: 'http://%s/api/v1/prometheus/targets?%s', "+
			"refresh_interval: 1s}]\n  relabel_configs: [{source_labels: [__meta_gslb_id], target_label: id}]\n", role, n.API,
			query)
	}
	cmd := exec.Command(program, "--config.file="+testbed.File(t, "prometheus.yml", config),
		"--storage.tsdb.path="+filepath.Join(t.TempDir(), "data"), "--web.listen-address="+at)
	var words strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &words, &words, time.Second
	testbed.Start(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL) // its data goes away with the test
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(words.String())
		}
	})
	p := &prometheus{url: "http://" + at}
	want := []string{"agents agent-1", "agents agent-2", "backends " + s.Backends[0].At.String(), "backends " + s.Backends[1].At.String(),
		"nodes " + n.Prom.String() + " up"}
	slices.Sort(want)
	testbed.Until(t, testbed.StartBound, "the targets", func(ctx context.Context) error {
		var data struct {
			ActiveTargets []struct {
				Labels map[string]string
				Health string
			}
		}
		if err := p.get(ctx, "/api/v1/targets", nil, &data); err != nil {
			return err
		}
		var got []string
		for _, target := range data.ActiveTargets {
			one := target.Labels["job"]
			switch one {
			case "agents":
				one += " " + target.Labels["id"]
			case "nodes":
				one += " " + target.Labels["instance"] + " " + target.Health
			case "backends":
				one += " " + target.Labels["instance"]
			}
			got = append(got, one)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			return fmt.Errorf("%q, want %q", got, want)
		}
		return nil
	})
}
