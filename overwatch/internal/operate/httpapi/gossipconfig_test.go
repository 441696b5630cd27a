package httpapi // inside: it shares world_test.go

import (
	"strings"
	"testing"
)

func TestGossipConfig_ShowsEverythingButTheKey(t *testing.T) {
	w := newWorld(t)
	const want = `{"config":{"enabled":true,"bind_address":"0.0.0.0","bind_port":7946,"cluster_name":"",` +
		`"encryption_enabled":true,` +
		`"gossip_interval_ms":200,"probe_interval_ms":1000,"probe_timeout_ms":500,"seeds":[]},"overlay":[],` +
		`"restart_required":[]}`
	if r := w.send("GET", "/api/v1/gossip/config", ""); r.status != 200 || strings.TrimSpace(r.body) != want {
		t.Errorf("got %d %s", r.status, r.body)
	}
	if _, err := w.client.GossipSettings(t.Context()); err != nil {
		t.Error(err)
	}
}
