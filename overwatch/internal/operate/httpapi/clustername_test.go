package httpapi // inside: it shares world_test.go

import (
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// PUT sets the cluster name, GET and the statistics show it, and DELETE restores the name of the file.
func TestClusterName_IsSetShownAndDropped(t *testing.T) {
	w := newWorld(t)
	name := "emea.prod-1"
	shown, err := w.client.ChangeGossipSettings(t.Context(), api.GossipConfigChange{ClusterName: &name})
	if err != nil || shown.Config.ClusterName != name || strings.Join(shown.Overlay, ",") != "cluster_name" {
		t.Errorf("set: %+v, %v", shown, err)
	}
	if stored, err := definitions.Load(w.store); err != nil ||
		string(stored.Settings["gossip"]) != `{"cluster_name":"emea.prod-1"}` {
		t.Errorf("on disk: %s, %v", stored.Settings, err)
	}
	for _, wrong := range []string{`"two words"`, `"` + strings.Repeat("x", 64) + `"`, `7`} {
		w.wantError(wrong, w.send("PUT", "/api/v1/gossip/config", `{"cluster_name":`+wrong+`}`), 400, "cluster_name")
	}
	w.want("DELETE", w.send("DELETE", "/api/v1/gossip/config", ""), 204)
	if shown, err := w.client.GossipSettings(t.Context()); err != nil || shown.Config.ClusterName != "" {
		t.Errorf("dropped: %+v, %v", shown, err)
	}
}

func TestStats_ShowTheClusterName(t *testing.T) {
	w := newWorld(t)
	cfg := *w.cfg.Load()
	cfg.Overwatch.Gossip.ClusterName = "emea"
	w.cfg.Store(&cfg)
	if stats, err := w.client.Stats(t.Context()); err != nil || stats.ClusterName != "emea" {
		t.Errorf("%+v, %v", stats, err)
	}
}
