package validation // inside: it uses metrics

import (
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

func gauge(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetGauge().GetValue() + out.GetCounter().GetValue()
}

func TestMetrics_CountChecksByOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1), target(2))
		v := w.run(t, 0)
		after(interval - 1)
		total := 0.0
		for _, c := range v.metrics.checks {
			total += gauge(t, c)
		}
		if n := w.told(); n < 2 || total != float64(n) || gauge(t, v.metrics.checks[1]) != float64(n) {
			t.Errorf("%v checks counted, %d reported", total, n)
		}
	})
}
