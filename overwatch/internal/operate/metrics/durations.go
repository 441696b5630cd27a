package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxDurations is the largest number of histograms of check durations. Checks of further services are not measured.
	maxDurations = 1 << 14
	// maxRegions is the largest number of histograms of a service. Checks in further regions have an empty region, since
	// agents name regions freely.
	maxRegions = 32
)

// Histograms of check durations have these buckets, in seconds, and the buckets of a native histogram for servers that
// request them: at most maxNativeBuckets, each at most nativeFactor times as wide as the previous one.
var durationBuckets = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}

const (
	nativeFactor     = 1.1
	maxNativeBuckets = 100
)

// CheckDurations measures the duration of own checks by service and region. It is safe for concurrent use. The zero
// value is not usable.
type CheckDurations struct {
	enabled  func() bool            // whether any service has a histogram
	measured func() map[string]bool // services with a histogram; nil: none

	mu         sync.Mutex
	histograms map[durationKey]prometheus.Histogram
	regions    map[string]int // number of histograms by service
}

type durationKey struct{ service, region string }

// RegisterCheckDurations adds the histograms to r. Each check calls enabled, which returns false while no service has a
// histogram. Each scrape calls measured, which returns the services that have a histogram, and removes the histograms
// of other services.
func RegisterCheckDurations(r prometheus.Registerer, enabled func() bool, measured func() map[string]bool) (
	*CheckDurations, error,
) {
	d := &CheckDurations{enabled: enabled, measured: measured, histograms: map[durationKey]prometheus.Histogram{},
		regions: map[string]int{}}
	return d, r.Register(collector(d.collect))
}

// Observe adds the duration of a check of a backend. It creates no histogram while no service has one.
func (d *CheckDurations) Observe(service, region string, took time.Duration) {
	if !d.enabled() {
		return
	}
	key := durationKey{service, region}
	d.mu.Lock()
	if d.histograms[key] == nil && d.regions[service] >= maxRegions {
		key.region = ""
	}
	h := d.histograms[key]
	if h == nil && len(d.histograms) < maxDurations {
		h = newDurations(key)
		d.histograms[key] = h
		d.regions[service]++
	}
	d.mu.Unlock()
	if h != nil {
		h.Observe(took.Seconds())
	}
}

func newDurations(key durationKey) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:        "gslb_backend_check_duration_seconds",
		Help:        "Duration of the successful own checks of backends.",
		ConstLabels: prometheus.Labels{"domain": key.service, "region": key.region},
		Buckets:     durationBuckets[:], NativeHistogramBucketFactor: nativeFactor,
		NativeHistogramMaxBucketNumber: maxNativeBuckets,
	})
}

// collect sends the histograms of the measured services, and removes the others.
func (d *CheckDurations) collect(s scrape) {
	measured := d.measured()
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, h := range d.histograms {
		if measured[key.service] {
			s.metrics <- h
		} else {
			delete(d.histograms, key)
			delete(d.regions, key.service)
		}
	}
}
