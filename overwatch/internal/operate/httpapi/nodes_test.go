package httpapi // inside: it shares world_test.go

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

func TestAgentNode_IsAnnouncedPinnedReissuedRevokedAndDeregistered(t *testing.T) {
	w := newWorld(t)
	node, err := w.client.AnnounceAgent(t.Context(),
		api.AgentRegistration{Name: agentName, Address: "[2001:db8::7]", Port: 9100, Region: "us", Version: "1.0"})
	if err != nil || node.Status != api.AgentPending || node.Address != "2001:db8::7" || node.RegisteredAt == nil {
		t.Errorf("announced %+v %v", node, err)
	}
	w.wantError("again", w.send("POST", "/api/v1/nodes/agent", `{"name":"agent-1"}`), 409, "agent-1")
	w.wantError("no certificate yet", w.send("GET", "/api/v1/nodes/agent/agent-1/certificate", ""), 404)
	w.wantError("nothing to reissue", w.send("POST", "/api/v1/nodes/agent/agent-1/certificate", ""), 404)
	w.agent("192.0.2.50", wire.ClaimHealthy)
	if r := w.send("GET", "/api/v1/nodes/agent/agent-1", ""); !strings.Contains(r.body, `"status":"online"`) ||
		!strings.Contains(r.body, `"address":"2001:db8::7","port":9100`) {
		t.Errorf("pinned: %s", r.body)
	}
	pinned, err := w.client.AgentCertificate(t.Context(), agentName)
	if c := pinned.Certificate; err != nil || c.Status != api.CertificateValid ||
		time.Since(c.IssuedAt).Abs() > time.Minute || !strings.HasPrefix(c.Fingerprint, "sha256:") || c.Serial == "" ||
		!c.NotAfter.After(c.NotBefore) {
		t.Errorf("certificate %+v %v", c, err)
	}
	again, err := w.client.ReissueCertificate(t.Context(), agentName)
	if err != nil || again.Status != api.AgentPending {
		t.Errorf("reissue %+v %v", again, err)
	}
	if r := w.send("GET", "/api/v1/nodes/agent?status=pending", ""); !strings.Contains(r.body, `"total":1`) {
		t.Errorf("after the reissue: %s", r.body)
	}
	if len(w.registry.View().Agents()) != 0 {
		t.Error("what the agent reported is still there")
	}
	w.wantError("twice", w.send("POST", "/api/v1/nodes/agent/agent-1/certificate", ""), 404)
	w.agent("192.0.2.51", wire.ClaimHealthy)
	w.must(w.client.RevokeCertificate(t.Context(), agentName))
	if c, err := w.client.AgentCertificate(t.Context(), agentName); err != nil ||
		c.Certificate.Status != api.CertificateRevoked {
		t.Errorf("revoked: %+v %v", c, err)
	}
	w.must(w.client.DeregisterAgent(t.Context(), agentName))
	w.wantError("gone", w.send("GET", "/api/v1/nodes/agent/agent-1", ""), 404)
	w.wantError("gone", w.send("DELETE", "/api/v1/nodes/agent/agent-1", ""), 404)
	if list, err := w.client.AgentNodes(t.Context()); err != nil || list.Total != 0 {
		t.Errorf("left: %+v %v", list, err)
	}
	for body, word := range map[string]string{
		`{}`: "name is", `{"name":"a b"}`: `"a b"`, `{"name":"` + strings.Repeat("x", 300) + `"}`: "name is",
		`{"name":"x","port":70000}`: "port is 70000", `{"name":"x","address":"host"}`: `"host"`,
		`{"name":"x","region":"mars"}`: `"mars"`, `{"name":"x","token":"t"}`: `"token"`,
	} {
		w.wantError(body[:min(len(body), 40)], w.send("POST", "/api/v1/nodes/agent", body), 400, word)
	}
}

func TestAgentNode_HasTheAddressItIsHeardFrom(t *testing.T) {
	w := newWorld(t)
	w.agent("192.0.2.50", wire.ClaimHealthy)
	if r := w.send("GET", "/api/v1/nodes/agent/agent-1", ""); strings.Contains(r.body, `"address"`) {
		t.Errorf("not known: %s", r.body)
	}
	w.heardFrom = netip.MustParseAddrPort("[2001:db8::9]:40123")
	for _, path := range []string{"nodes/agent/agent-1", "gossip/nodes/agent-1"} {
		if r := w.send("GET", "/api/v1/"+path, ""); !strings.Contains(r.body, `"address":"2001:db8::9","port":40123`) {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	if r := w.send("GET", "/api/v1/gossip/nodes/agent-1", ""); !strings.Contains(r.body, `"rtt_ms":3`) {
		t.Errorf("a round trip of 2.1 ms: %s", r.body)
	}
}

func TestAgentNode_IsOfflineAtOnceAfterItsGoodbye(t *testing.T) {
	w := newWorld(t)
	agent := w.agent("192.0.2.50", wire.ClaimHealthy)
	w.must(w.registry.ApplyGoodbye(t.Context(), agent))
	if list, err := w.client.AgentNodes(t.Context()); err != nil || list.Nodes[0].Status != api.AgentOffline ||
		list.Nodes[0].LeftAt == nil || list.Nodes[0].ActiveChecks != 0 {
		t.Errorf("%+v %v", list, err)
	}
	if pinned, err := w.client.Agent(t.Context(), agentName); err != nil || pinned.LeftAt == nil {
		t.Errorf("%+v %v", pinned, err)
	}
	if stats, err := w.client.Stats(t.Context()); err != nil || stats.ActiveAgents != 0 {
		t.Errorf("%+v %v", stats, err)
	}
}

func TestOverwatchNodes_AreThisOneAndItsPeers(t *testing.T) {
	w := newWorld(t)
	w.members = []gossip.Member{
		{Name: "z", Status: gossip.StatusDead, Address: netip.MustParseAddrPort("[2001:db8::1]:7946"), Region: "us",
			Version: "1"},
		{Name: "node-1", Status: gossip.StatusAlive, Self: true},
		{Name: "a", Status: gossip.StatusSuspect},
	}
	list, err := w.client.OverwatchNodes(t.Context())
	if err != nil || list.Total != 3 || list.Nodes[0].ID != "node-1" || !list.Nodes[0].Self ||
		list.Nodes[0].Port != 53 ||
		*list.Nodes[0].QueriesTotal != 900 || list.Nodes[0].QueriesPerSec < 5 || list.Nodes[0].APIPort == 0 {
		t.Errorf("%+v %v", list, err)
	}
	for _, known := range []string{"uptime_seconds", "queries_total", "api_port", `"port"`} {
		if r := w.send("GET", "/api/v1/nodes/overwatch/z", ""); strings.Contains(r.body, known) {
			t.Errorf("%s of a peer is not known: %s", known, r.body)
		}
	}
	if list.Nodes[1].ID != "a" || list.Nodes[1].Status != api.OverwatchDegraded ||
		list.Nodes[2].Status != api.OverwatchOffline || list.Nodes[2].Address != "2001:db8::1" {
		t.Errorf("peers %+v", list.Nodes[1:])
	}
	if n, err := w.client.OverwatchNode(t.Context(), "z"); err != nil || n.Region != "us" {
		t.Errorf("%+v %v", n, err)
	}
	w.wantError("unknown", w.send("GET", "/api/v1/nodes/overwatch/x", ""), 404)
	w.wantError("status", w.send("GET", "/api/v1/nodes/overwatch?status=up", ""), 400, "online")
	w.fitness.readiness.Ready = false
	if r := w.send("GET", "/api/v1/nodes/overwatch?status=degraded&region=", ""); !strings.Contains(r.body,
		`"total":2`) {
		t.Errorf("not ready: %s", r.body)
	}
}
