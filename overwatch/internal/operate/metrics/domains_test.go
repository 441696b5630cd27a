package metrics // inside: it uses collectDomains and maxDurations

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// With more domains than metrics.per_domain, there are sums per zone, and no label has the name of a domain.
func TestDomains_AboveTheLimitTheMetricsArePerZone(t *testing.T) {
	from := sources(t)
	from.PerDomain = perDomain(1)
	r := prometheus.NewPedanticRegistry()
	must(t, r.Register(collector(from.collectDomains)))
	must(t, testutil.GatherAndCompare(r, strings.NewReader(`
# HELP gslb_overwatch_domains Domains that the node steers.
# TYPE gslb_overwatch_domains gauge
gslb_overwatch_domains 2
# HELP gslb_overwatch_domains_limit metrics.per_domain: with more domains, the metrics are per zone.
# TYPE gslb_overwatch_domains_limit gauge
gslb_overwatch_domains_limit 1
# HELP gslb_zone_answers_total Load-balanced answers, by the region of the first address, and by outcome.
# TYPE gslb_zone_answers_total counter
gslb_zone_answers_total{outcome="no_healthy_backend",region="",zone=""} 5
gslb_zone_answers_total{outcome="success",region="eu",zone="example"} 7
# HELP gslb_zone_domains Domains of the zone.
# TYPE gslb_zone_domains gauge
gslb_zone_domains{zone="example"} 1
gslb_zone_domains{zone="sub.example"} 1
# HELP gslb_zone_domains_down Domains of the zone with fewer serving backends than required.
# TYPE gslb_zone_domains_down gauge
gslb_zone_domains_down{zone="example"} 1
gslb_zone_domains_down{zone="sub.example"} 1
`)))
}

// Histograms exist for measured services only, and are removed with their service.
func TestCheckDurations_AreBoundedByTheMeasuredServices(t *testing.T) {
	r, measured := prometheus.NewPedanticRegistry(), map[string]bool{"a.example": true}
	d, err := RegisterCheckDurations(r, func() bool { return measured != nil }, func() map[string]bool { return measured })
	must(t, err)
	d.Observe("a.example", "eu", 20*time.Millisecond)
	d.Observe("a.example", "us", 3*time.Second)
	d.Observe("unknown.example", "eu", time.Second)
	families, err := r.Gather()
	must(t, err)
	if len(families) != 1 || families[0].GetName() != "gslb_backend_check_duration_seconds" ||
		len(families[0].GetMetric()) != 2 {
		t.Fatalf("gathered %v, want two histograms", families)
	}
	if h := families[0].GetMetric()[1].GetHistogram(); h.GetSampleSum() != 3 || h.GetSchema() == 0 {
		t.Errorf("histogram %v: want the sum 3 and a native histogram", h)
	}
	for i := range 2 * maxRegions {
		d.Observe("a.example", "made up "+time.Duration(i).String(), time.Second)
	}
	if families, err = r.Gather(); err != nil || len(families[0].GetMetric()) != maxRegions+1 {
		t.Errorf("%v, %d histograms of one service, want %d", err, len(families[0].GetMetric()), maxRegions+1)
	}
	measured = nil
	if families, err = r.Gather(); err != nil || len(families) != 0 || len(d.histograms) != 0 {
		t.Errorf("without measured services: %v, %v, %d histograms", families, err, len(d.histograms))
	}
	if d.Observe("a.example", "eu", time.Second); len(d.histograms) != 0 {
		t.Error("without measured services, a check creates a histogram")
	}
	measured = map[string]bool{}
	for i := range maxDurations + 10 {
		d.Observe(strings.Repeat("a", i%60+1)+time.Duration(i).String(), "", time.Second)
	}
	if len(d.histograms) != maxDurations {
		t.Errorf("%d histograms, want %d", len(d.histograms), maxDurations)
	}
}
