package predict // inside: it uses fieldValue, metricValue and newReader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
)

const exposition = `# HELP http_requests_total requests
# TYPE http_requests_total counter
http_requests_total{code="200",path="/a,b\"}"} 90
http_requests_total{code="500",path="/"} 3
http_requests_total{code="503",path="/"} 4.5
# TYPE queue gauge
queue 7
failures_untyped 2 1700000000000
# TYPE latency histogram
latency_bucket{le="1"} 4
latency_bucket{le="+Inf"} 5
latency_sum 9
latency_count 5
# TYPE broken gauge
broken NaN
below -1
`

func TestRead_FindsTheNumber(t *testing.T) {
	labels := func(code string) map[string]string { return map[string]string{"code": code} }
	document := `{"errors": {"total": 12, "text": "12", "list": [1]}, "rate": 0.5, "minus": -1}`
	for _, c := range []struct {
		name, body string
		source     config.ErrorSource
		want       float64
		trouble    string // part of
	}{
		{"series that match are added up", exposition,
			config.ErrorSource{Metric: "http_requests_total", Labels: labels("5..")}, 7.5, ""},
		{"all series", exposition, config.ErrorSource{Metric: "http_requests_total"}, 97.5, ""},
		{"no such series yet", exposition, config.ErrorSource{Metric: "http_requests_total", Labels: labels("502")}, 0, ""},
		{"a series without the label", exposition, config.ErrorSource{Metric: "queue", Labels: labels("5..")}, 0, ""},
		{"gauge", exposition, config.ErrorSource{Metric: "queue"}, 7, ""},
		{"untyped, with a time", exposition, config.ErrorSource{Metric: "failures_untyped"}, 2, ""},
		{"observations of a histogram", exposition, config.ErrorSource{Metric: "latency_count"}, 5, ""},
		{"a histogram", exposition, config.ErrorSource{Metric: "latency"}, 0, "latency is a histogram: name a counter"},
		{"no such metric", exposition, config.ErrorSource{Metric: "nothing"}, 0, "it has no metric nothing"},
		{"not a number", exposition, config.ErrorSource{Metric: "broken"}, 0, "metric broken is NaN"},
		{"below zero", exposition, config.ErrorSource{Metric: "below"}, 0, "metric below is -1"},
		{"not the text format", "<html>", config.ErrorSource{Metric: "queue"}, 0, "not in the text format of Prometheus"},
		{"field", document, config.ErrorSource{Field: "errors.total"}, 12, ""},
		{"field at the top", document, config.ErrorSource{Field: "rate"}, 0.5, ""},
		{"no such field", document, config.ErrorSource{Field: "errors.none"}, 0, "it has no field errors.none"},
		{"field below a number", document, config.ErrorSource{Field: "rate.x"}, 0, `the value before "x"`},
		{"field that is text", document, config.ErrorSource{Field: "errors.text"}, 0, "field errors.text is not a number"},
		{"field below zero", document, config.ErrorSource{Field: "minus"}, 0, "field minus is -1"},
		{"not JSON", "queue 7", config.ErrorSource{Field: "rate"}, 0, "not JSON"},
		{"empty", "", config.ErrorSource{Field: "rate"}, 0, "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
				_ *http.Request) {
				io.WriteString(w, c.body)
			}))
			defer server.Close()
			c.source.URL, c.source.Timeout = server.URL, 5*time.Second
			got, err := newReader(c.source, "").read(t.Context())
			if c.trouble == "" && (err != nil || got != c.want) {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
			if c.trouble != "" && (err == nil || !strings.Contains(err.Error(), c.trouble)) {
				t.Errorf("%v, want an error with %q", err, c.trouble)
			}
		})
	}
}

// A misbehaving application costs the agent at most the timeout and the maximum size.
func TestRead_IsBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		trouble string
	}{
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			for line := []byte("# " + strings.Repeat("x", 16<<10) + "\n"); ; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}, "8 MiB"},
		{"silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "Timeout"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			"status 302"},
		{"huge header", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) },
			"header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			timeout := 2 * time.Minute // more than a loaded machine takes to read 8 MiB
			if c.name == "silent" {
				timeout = 50 * time.Millisecond
			}
			_, err := newReader(config.ErrorSource{URL: server.URL, Metric: "a", Timeout: timeout}, "").read(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.trouble) {
				t.Errorf("%v, want an error with %q", err, c.trouble)
			}
		})
	}
}

// sourced is a Watch of an application whose counter the test sets; nan means that the application is down.
type sourced struct {
	*Watch
	counter  atomic.Uint64 // math.Float64bits
	log      bytes.Buffer
	registry *prometheus.Registry
	now      time.Time
}

func newSourced(t *testing.T, kind string) *sourced {
	t.Helper()
	s := &sourced{registry: prometheus.NewRegistry(), now: time.Unix(1e9, 0)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		value := math.Float64frombits(s.counter.Load())
		if math.IsNaN(value) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, `{"errors": %g}`, value)
	}))
	t.Cleanup(server.Close)
	w, err := New(Options{
		Predictive: config.Predictive{
			Enabled: true, CheckInterval: 10 * time.Second,
			CPU:    config.CPU{Threshold: 85, BleedDuration: time.Second},
			Memory: config.Memory{Threshold: 90, BleedDuration: time.Second},
			ErrorRate: config.ErrorRate{Threshold: 10, BleedDuration: 40 * time.Second, Window: time.Minute,
				Source: config.ErrorSource{URL: server.URL, Field: "errors", Kind: kind, Timeout: 5 * time.Second}},
		},
		Meter: noMeter{}, Failures: func() map[Target]uint64 { return map[Target]uint64{target: 1000} },
		Registerer: s.registry, Logger: zerolog.New(&s.log),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Watch = w
	return s
}

// reads sets the number, waits an interval and returns the bleed of the warning in milliseconds.
func (s *sourced) reads(t *testing.T, value float64) uint32 {
	t.Helper()
	s.counter.Store(math.Float64bits(value))
	s.now = s.now.Add(s.options.CheckInterval)
	s.measureAll(t.Context(), s.now)
	return s.Warnings(target).ErrorRateMillis
}

func (s *sourced) up(t *testing.T) float64 {
	t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "gslb_agent_error_source_up" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no metric of the source")
	return 0
}

var down = math.NaN()

func TestSource_ACounterThatGrowsTooFastSetsTheWarning(t *testing.T) {
	s := newSourced(t, config.KindCounter)
	for i, c := range []struct {
		value float64
		want  uint32
	}{
		{5000, 0}, {5004, 0}, {5010, 0}, {5011, 40000}, // 11 in a minute
		{down, 40000}, {down, 40000}, // nothing is known: it stays
		{3, 40000}, {3, 0}, // the application was started again, and is calm twice
		{3, 0}, {14, 40000},
	} {
		if got := s.reads(t, c.value); got != c.want {
			t.Errorf("reading %d, %v: a warning of %d ms, want %d", i, c.value, got, c.want)
		}
	}
}

func TestSource_ARateIsTakenAsItIs(t *testing.T) {
	s := newSourced(t, config.KindRate)
	for i, c := range []struct {
		value float64
		want  uint32
	}{{10, 0}, {10.5, 40000}, {5.5, 40000}, {4, 40000}, {5, 0}} {
		if got := s.reads(t, c.value); got != c.want {
			t.Errorf("reading %d, %v: a warning of %d ms, want %d", i, c.value, got, c.want)
		}
	}
}

func TestSource_AnOutageIsToldOnceAndShown(t *testing.T) {
	s := newSourced(t, config.KindCounter)
	s.reads(t, 1)
	if s.up(t) != 1 {
		t.Error("the source is shown as down")
	}
	for range 3 {
		s.reads(t, down)
	}
	if s.up(t) != 0 {
		t.Error("the source is shown as up")
	}
	s.reads(t, 1)
	if n := strings.Count(s.log.String(), "cannot be read"); n != 1 {
		t.Errorf("told %d times that it cannot be read, want once:\n%s", n, s.log.String())
	}
	if n := strings.Count(s.log.String(), "can be read"); n != 1 {
		t.Errorf("logged %d times that it can be read, want once", n)
	}
}

// FuzzRead passes arbitrary responses to both readers. The result is a number or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(exposition))
	f.Add([]byte(`{"a": {"b": 1}}`))
	f.Add([]byte("a{b=\"c\"} 1e400\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = metricValue(bytes.NewReader(body), "a", map[string]*regexp.Regexp{"b": regexp.MustCompile("^c$")})
		_, _ = fieldValue(bytes.NewReader(body), []string{"a", "b"})
	})
}

var errNoMeter = errors.New("no meter")

type noMeter struct{}

func (noMeter) CPU(context.Context) (float64, error)    { return 0, errNoMeter }
func (noMeter) Memory(context.Context) (float64, error) { return 0, errNoMeter }
