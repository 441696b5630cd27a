package httpapi // inside: it shares world_test.go

import (
	"testing"

	"gslb.internal/shared/api"
)

// Each role has its targets with their labels. port replaces the default port of nodes.
func TestDiscovery_ListsTargetsByRole(t *testing.T) {
	w := newWorld(t)
	nodes, err := w.client.DiscoveryTargets(t.Context(), api.DiscoverNodes)
	w.must(err)
	for _, n := range nodes {
		if n.Labels["__meta_gslb_role"] != "node" || n.Labels["__meta_gslb_id"] == "" {
			t.Errorf("%+v", n)
		}
	}
	backends, err := w.client.DiscoveryTargets(t.Context(), api.DiscoverBackends)
	w.must(err)
	all, err := w.client.Backends(t.Context(), api.BackendFilter{})
	w.must(err)
	if len(backends) != len(all.Backends) || len(backends) == 0 {
		t.Fatalf("%d targets, %d backends", len(backends), len(all.Backends))
	}
	if b := backends[0]; b.Labels["__meta_gslb_service"] == "" || b.Labels["__meta_gslb_status"] == "" ||
		len(b.Targets) != 1 {
		t.Errorf("%+v", b)
	}
	for query, words := range map[string]string{"role=names": "role", "port=0": "port", "port=65536": "port"} {
		w.wantError(query, w.send("GET", "/api/v1/prometheus/targets?"+query, ""), 400, words)
	}
}
