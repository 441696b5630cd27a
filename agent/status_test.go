package agent // inside: it uses errUnwell and takeStatus

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

func TestStatus_IsOfARunningAgentOnly(t *testing.T) {
	s := newSite(t)
	var out bytes.Buffer
	if err := Status(s.config, &out); err == nil ||
		!strings.Contains(err.Error(), "no agent runs with data_dir "+s.dataDir) {
		t.Errorf("before the start: %v", err)
	}
	r := s.start(t)
	s.scrape(t, `gslb_agent_backend_healthy{address="127.0.0.1"`)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline) &&
		!strings.Contains(out.String(), "healthy"); {
		out.Reset()
		if err := Status(s.config, &out); err == nil {
			t.Error("well without an overwatch node")
		}
	}
	for _, want := range []string{"agent eu-", "certificate sha256:", "backend app.example.org:127.0.0.1:", "healthy",
		"node 127.0.0.1:9", "not connected"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
	if err := Status(s.config, &out); err == nil {
		t.Error("well after its end")
	}
}

func TestStatus_ShowsWhatNodesRefuse(t *testing.T) {
	id := &identity.Identity{Certificate: &identity.Certificate{CommonName: "a1"}}
	now := time.Now()
	s := takeStatus(id, []wire.Backend{{
		Service: "a.example", Address: netip.MustParseAddr("192.0.2.1"), Port: 80, Claim: wire.ClaimUnhealthy,
		LastError: "refused",
		Warnings:  wire.Warnings{CPUMillis: 1}, Draining: true,
	}}, []report.NodeState{{
		Address: "ow:7946", NodeID: "ow-1", Connected: true, Path: "udp",
		Rejects: []report.Rejection{{Code: wire.CodeConflictingClaim, Service: "a.example", Backend: "192.0.2.1:80"}},
	}}, now)
	var out bytes.Buffer
	if err := s.print(&out, now.Add(time.Second)); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"unhealthy, warns, drains", "refused", "connected by udp",
		"conflicting_claim a.example 192.0.2.1:80"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if err := s.print(&out, now.Add(time.Minute)); !errors.Is(err, errUnwell) {
		t.Errorf("a state that is a minute old: %v", err)
	}
	s.Nodes[0].Connected = false
	if err := s.print(&out, now); !errors.Is(err, errUnwell) {
		t.Errorf("without a node: %v", err)
	}
}
