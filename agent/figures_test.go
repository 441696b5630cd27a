package agent // inside: it uses newFigures and registered

import (
	"net/netip"
	"testing"
	"time"

	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/wire"
)

func TestRegistered_CountsBackendsThatSomeNodeTakes(t *testing.T) {
	at := netip.MustParseAddr("2001:db8::1")
	backends := []wire.Backend{{Service: "a", Address: at, Port: 80}, {Service: "a", Address: at, Port: 81},
		{Service: "b", Address: at, Port: 80}}
	good := report.NodeState{Connected: true}
	node := func(r report.Rejection) report.NodeState {
		return report.NodeState{Connected: true, Rejects: []report.Rejection{r}}
	}
	for _, c := range []struct {
		name  string
		nodes []report.NodeState
		want  int
	}{
		{"no node", nil, 0},
		{"not connected", []report.NodeState{{}}, 0},
		{"one node takes all", []report.NodeState{{}, good}, 3},
		{"the agent is refused", []report.NodeState{node(report.Rejection{Code: wire.CodeRevoked})}, 0},
		{"a service is refused", []report.NodeState{node(report.Rejection{Service: "a"})}, 1},
		{"a backend is refused", []report.NodeState{node(report.Rejection{Service: "a", Backend: "[2001:db8::1]:80"})}, 2},
		{"refused here, taken there", []report.NodeState{node(report.Rejection{Service: "a"}), good}, 3},
	} {
		if got := registered(backends, c.nodes); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestFigures_CertificateExpiryIsInDays(t *testing.T) {
	figures := newFigures(buildinfo.Get(), time.Now().Add(36*time.Hour))
	families, err := figures.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "gslb_agent_certificate_expiry_days" {
			if days := family.Metric[0].GetGauge().GetValue(); days < 1.49 || days > 1.5 {
				t.Errorf("%v days, want 1.5", days)
			}
			return
		}
	}
	t.Error("the metric is missing")
}
