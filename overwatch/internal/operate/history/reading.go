package history

import (
	"math"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/leaf/histogram"
)

// Reading holds totals since the start of the process, and current values.
type Reading struct {
	At      time.Time // with a monotonic reading
	Queries uint64
	Failed  uint64 // queries with the answer SERVFAIL
	Checks  uint64
	Times   histogram.Snapshot // response times of queries
	CPU     time.Duration      // of the process, on all cores
	Cores   int
	// Regions counts the load-balanced answers of each region.
	Regions map[string]uint64

	MemoryUsed, MemoryTotal, MemoryAvailable uint64 // bytes; 0: unknown

	Healthy, Unhealthy, Stale, Domains, Agents int
}

// Span is the time between two readings.
type Span struct{ From, To Reading }

// seconds returns the length of the span. It is above zero.
func (s *Span) seconds() float64 { return max(s.To.At.Sub(s.From.At).Seconds(), 1e-9) }

// QueriesPerSec is the mean rate of queries.
func (s *Span) QueriesPerSec() float64 { return float64(s.To.Queries-s.From.Queries) / s.seconds() }

// ChecksPerSec is the mean rate of checks.
func (s *Span) ChecksPerSec() float64 { return float64(s.To.Checks-s.From.Checks) / s.seconds() }

// RegionPerSec is the mean rate of answers with backends of a region.
func (s *Span) RegionPerSec(region string) float64 {
	return float64(s.To.Regions[region]-s.From.Regions[region]) / s.seconds()
}

// ErrorRate returns the fraction of failed queries, from 0 to 1; 0 without queries.
func (s *Span) ErrorRate() float64 {
	if n := s.To.Queries - s.From.Queries; n > 0 {
		return float64(s.To.Failed-s.From.Failed) / float64(n)
	}
	return 0
}

// CPUPercent returns the percentage of all cores that the process used.
func (s *Span) CPUPercent() float64 {
	return 100 * (s.To.CPU - s.From.CPU).Seconds() / s.seconds() / float64(max(s.To.Cores, 1))
}

// MemoryPercent returns the percentage of the machine's memory that the process uses.
func (r *Reading) MemoryPercent() float64 {
	if r.MemoryTotal == 0 {
		return 0
	}
	return 100 * float64(r.MemoryUsed) / float64(r.MemoryTotal)
}

// Times returns the distribution of response times in the span.
func (s *Span) Times() histogram.Snapshot { return s.To.Times.Since(&s.From.Times) }

// metric describes one value of a point.
type metric struct {
	name string
	of   func(*Span, *histogram.Snapshot) float64 // NaN: not measured
	// worst selects the maximum of several points instead of the mean.
	worst bool
}

// metrics returns the table of a point's values.
func metrics() []metric {
	took := func(of func(*histogram.Snapshot) time.Duration) func(*Span, *histogram.Snapshot) float64 {
		return func(_ *Span, h *histogram.Snapshot) float64 {
			if h.Count() == 0 {
				return math.NaN()
			}
			return float64(of(h).Nanoseconds()) / 1e6
		}
	}
	quantile := func(q float64) func(*Span, *histogram.Snapshot) float64 {
		return took(func(h *histogram.Snapshot) time.Duration { return h.Quantile(q) })
	}
	now := func(of func(*Reading) float64) func(*Span, *histogram.Snapshot) float64 {
		return func(s *Span, _ *histogram.Snapshot) float64 { return of(&s.To) }
	}
	return []metric{
		{"queries_per_sec", func(s *Span, _ *histogram.Snapshot) float64 { return s.QueriesPerSec() }, false},
		{"error_rate", func(s *Span, _ *histogram.Snapshot) float64 {
			if s.To.Queries == s.From.Queries {
				return math.NaN()
			}
			return s.ErrorRate()
		}, false},
		{"health_checks_per_sec", func(s *Span, _ *histogram.Snapshot) float64 { return s.ChecksPerSec() }, false},
		{"response_avg_ms", took((*histogram.Snapshot).Mean), false},
		{"response_p50_ms", quantile(0.5), true},
		{"response_p95_ms", quantile(0.95), true},
		{"response_p99_ms", quantile(0.99), true},
		{"response_max_ms", quantile(1), true},
		{"healthy_servers", now(func(r *Reading) float64 { return float64(r.Healthy) }), false},
		{"unhealthy_servers", now(func(r *Reading) float64 { return float64(r.Unhealthy) }), false},
		{"stale_servers", now(func(r *Reading) float64 { return float64(r.Stale) }), false},
		{"active_domains", now(func(r *Reading) float64 { return float64(r.Domains) }), false},
		{"agent_nodes", now(func(r *Reading) float64 { return float64(r.Agents) }), false},
		{"memory_used_bytes", now(func(r *Reading) float64 { return float64(r.MemoryUsed) }), false},
		{"memory_percent", now((*Reading).MemoryPercent), false},
		{"cpu_percent", func(s *Span, _ *histogram.Snapshot) float64 { return s.CPUPercent() }, false},
	}
}

// Names lists the metrics of a point, in order.
func Names() []string {
	var names []string
	for _, m := range metrics() {
		names = append(names, m.name)
	}
	return names
}

// Point has the values of the time that ends at At, in the order of Names. NaN means unmeasured.
type Point struct {
	At     time.Time
	Values []float64
}

func pointOf(s *Span, at time.Time) Point {
	h := s.Times()
	p := Point{At: at}
	for _, m := range metrics() {
		p.Values = append(p.Values, m.of(s, &h))
	}
	return p
}

// join merges several points into one point.
func join(points []Point, at time.Time) Point {
	p := Point{At: at}
	for i, m := range metrics() {
		var values []float64
		sum := 0.0
		for _, one := range points {
			if v := one.Values[i]; !math.IsNaN(v) {
				values, sum = append(values, v), sum+v
			}
		}
		switch {
		case len(values) == 0:
			p.Values = append(p.Values, math.NaN())
		case m.worst:
			p.Values = append(p.Values, slices.Max(values))
		default:
			p.Values = append(p.Values, sum/float64(len(values)))
		}
	}
	return p
}
