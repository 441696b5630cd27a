package httpapi // inside: it shares decisions_test.go

import (
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// The metrics of a domain count its answers, the part with SERVFAIL, and the time of its sampled answers. The domain
// with the most answers is first.
func TestDomainMetrics_CountTheAnswersOfADomain(t *testing.T) {
	w := answeredWorld(t)
	cfg := *w.cfg.Load()
	cfg.Domains = append(cfg.Domains, config.Domain{Name: "down.test"}, config.Domain{Name: "geo.test"},
		config.Domain{Name: "idle.test"})
	w.cfg.Store(&cfg)
	list, err := w.client.DomainMetrics(t.Context())
	w.must(err)
	if len(list.Domains) != 2 || list.Total != 2 {
		t.Fatalf("%+v", list)
	}
	for i, want := range []struct {
		name    string
		samples int
		errors  float64
	}{{"geo.test", 3, 0}, {"down.test", 1, 1}} {
		m := list.Domains[i]
		if m.Domain != want.name || m.Samples != want.samples || m.ErrorRate != want.errors || m.QueriesPerSec <= 0 ||
			m.AnswerP99MS == nil || *m.AnswerP99MS < 0 || len(m.History) != 59 {
			t.Errorf("%+v, want %+v", m, want)
		}
	}
	named, err := w.client.DomainMetrics(t.Context(), "idle.test", "Down.Test.", "unknown.test")
	w.must(err)
	if names := namesOf(named); !slices.Equal(names, []string{"down.test", "idle.test"}) {
		t.Errorf("%v", names)
	}
	if idle := named.Domains[1]; idle.QueriesPerSec != 0 || idle.AnswerP99MS != nil || idle.Samples != 0 {
		t.Errorf("%+v", idle)
	}
	w.wantError("too many names", w.send("GET", "/api/v1/metrics/domains?names="+strings.Repeat("a.test,", 101), ""), 400)
}

func namesOf(list api.DomainMetricsList) (names []string) {
	for _, m := range list.Domains {
		names = append(names, m.Domain)
	}
	return names
}
