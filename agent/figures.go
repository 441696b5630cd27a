package agent

import (
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/wire"
)

// newFigures returns a metrics registry with the process's own metrics: version, runtime and the
// end of the certificate.
func newFigures(build buildinfo.Info, certificateEnds time.Time) *prometheus.Registry {
	figures := prometheus.NewRegistry()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gslb_build_info", Help: "Always 1; the labels say what this program was built from.",
		ConstLabels: prometheus.Labels{"version": build.Version, "commit": build.GitCommit, "go_version": build.GoVersion},
	})
	info.Set(1)
	expiry := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gslb_agent_certificate_expiry_days",
		Help: "Days until the agent's certificate expires; below 0 overwatch nodes refuse the agent.",
	}, func() float64 { return time.Until(certificateEnds.Round(0)).Hours() / 24 })
	figures.MustRegister(info, expiry, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return figures
}

// registeredGauge returns a metric of the number of registered backends.
func registeredGauge(backends func() []wire.Backend, nodes func() []report.NodeState) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gslb_agent_backends_registered",
		Help: "Backends of this agent that at least one overwatch node takes its reports about.",
	}, func() float64 { return float64(registered(backends(), nodes())) })
}

// registered returns the number of backends that at least one connected node accepts.
func registered(backends []wire.Backend, nodes []report.NodeState) int {
	n := 0
	for i := range backends {
		for j := range nodes {
			if nodes[j].Connected && !rejects(&nodes[j], &backends[i]) {
				n++
				break
			}
		}
	}
	return n
}

// rejects reports whether the node rejects reports about the backend, because of the backend, its service or this
// agent.
func rejects(node *report.NodeState, b *wire.Backend) bool {
	at := netip.AddrPortFrom(b.Address, b.Port).String()
	for _, r := range node.Rejects {
		if (r.Service == "" || r.Service == b.Service) && (r.Backend == "" || r.Backend == at) {
			return true
		}
	}
	return false
}
