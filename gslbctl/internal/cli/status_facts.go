package cli

import (
	"fmt"
	"time"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nodeFact is a row of the status screen.
type nodeFact struct {
	name string
	of   func(nodeStatus) render.Cell
}

func nodeFacts() []nodeFact {
	return []nodeFact{
		{"status", func(n nodeStatus) render.Cell {
			if n.Health == nil {
				return render.Cell{Text: "no answer", Tone: render.Bad}
			}
			return statusCell(n.Health.Status)
		}},
		{"ready", func(n nodeStatus) render.Cell {
			if n.Readiness == nil {
				return render.C(render.None)
			}
			return goodCell(n.Readiness.Ready)
		}},
		{"version", ofHealth(func(h api.Health) string { return h.Version })},
		{"up", ofHealth(func(h api.Health) string {
			return render.Span(time.Duration(
				h.UptimeSeconds) * time.Second)
		})},
		{"cluster", ofStats(func(s *api.Stats) render.Cell { return orNone(s.ClusterName) })},
		{"domains up", domainsUp},
		{"backends healthy", ofStats(func(s *api.Stats) render.Cell {
			return healthyOf(s.HealthyBackends, s.TotalBackends)
		})},
		{"unhealthy", ofStats(func(s *api.Stats) render.Cell { return number(s.UnhealthyBackends) })},
		{"stale", ofStats(func(s *api.Stats) render.Cell { return number(s.StaleBackends) })},
		{"draining", ofStats(func(s *api.Stats) render.Cell { return number(s.DrainingBackends) })},
		{"overrides", ofStats(func(s *api.Stats) render.Cell { return number(s.ActiveOverrides) })},
		{"active agents", ofStats(func(s *api.Stats) render.Cell { return number(s.ActiveAgents) })},
		{"own checks", ofStats(ownChecks)},
		{"replication", replicated},
	}
}

func ofHealth(text func(api.Health) string) func(nodeStatus) render.Cell {
	return func(n nodeStatus) render.Cell {
		if n.Health == nil {
			return render.C(render.None)
		}
		return render.C(text(*n.Health))
	}
}

func ofStats(cell func(*api.Stats) render.Cell) func(nodeStatus) render.Cell {
	return func(n nodeStatus) render.Cell {
		if n.Stats == nil {
			return render.C(render.None)
		}
		return cell(n.Stats)
	}
}

// domainsUp returns a cell with the number of enabled domains, and the number of those with a healthy backend.
func domainsUp(n nodeStatus) render.Cell {
	if n.Stats == nil {
		return render.C(render.None)
	}
	up, on := 0, 0
	for _, d := range n.Domains {
		if d.Enabled {
			on++
			up += min(d.HealthyBackends, 1)
		}
	}
	return healthyOf(up, on)
}

func ownChecks(s *api.Stats) render.Cell {
	switch {
	case s.ValidationSuspended:
		return render.Cell{Text: "unused: self-isolation", Tone: render.Warn}
	case !s.ValidationEnabled:
		return render.C("off")
	}
	return render.C(fmt.Sprintf("%d/%d", s.ValidatedBackends, s.TotalBackends))
}

// replicated returns a cell with the number of answering peers, and the number of operators' changes without effect.
func replicated(n nodeStatus) render.Cell {
	r := n.Replication
	if r == nil {
		return render.C(render.None)
	}
	cell := render.C("off")
	if r.Enabled {
		connected := 0
		for _, p := range r.Peers {
			if p.Connected {
				connected++
			}
		}
		cell = healthyOf(connected, len(r.Peers))
		cell.Text += " peers"
	}
	if len(r.Refused) > 0 {
		cell.Text += fmt.Sprintf(", %d refused", len(r.Refused))
		cell.Tone = render.Warn
	}
	if r.UnusedTotal > 0 {
		cell.Text += fmt.Sprintf(", %d unused", r.UnusedTotal)
	}
	return cell
}
