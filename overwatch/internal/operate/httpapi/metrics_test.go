package httpapi // inside: it shares world_test.go

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/leaf/histogram"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// ask reads the answer of a GET request that must succeed.
func ask[T any](w *world, path string) T {
	w.t.Helper()
	var answer T
	r := w.send("GET", path, "")
	if err := json.Unmarshal([]byte(r.body), &answer); err != nil || r.status != 200 {
		w.t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return answer
}

// worked makes the node report 600 answered queries in the last minute, six of which failed, with a time of two
// milliseconds each.
func (w *world) worked() {
	var times histogram.Counter
	times.Add(2*time.Millisecond, 600)
	w.reading.At = time.Now()
	w.reading.Queries, w.reading.Failed, w.reading.Checks, w.reading.CPU = 600, 6, 30, 12*time.Second
	w.reading.MemoryUsed, w.reading.MemoryTotal, w.reading.MemoryAvailable = 25, 100, 50
	w.reading.Regions = map[string]uint64{"eu": 450, "us": 150}
	times.AddTo(&w.reading.Times)
}

func passes(a, b float64) bool { return a > b*0.97 && a < b*1.03 }

func TestMetrics_OverviewTellsWhatTheNodeDid(t *testing.T) {
	w := newWorld(t)
	w.validate(service+":192.0.2.1:80", check.StateHealthy, "")
	w.worked()
	o := ask[api.OverviewAnswer](w, "/api/v1/metrics/overview").Overview
	if o.QueriesTotal != 600 || !passes(o.QueriesPerSec, 10) || !passes(o.HealthChecksPerSec, 0.5) ||
		!passes(o.ErrorRate, 0.01) || !passes(o.CPU.UsedPercent, 10) || o.CPU.Cores != 2 {
		t.Errorf("%+v", o)
	}
	if o.ResponseTimes.P99MS < 2 || o.ResponseTimes.P99MS > 2.3 || o.ResponseTimes.AvgMS != 2 ||
		*o.Memory.UsedBytes != 25 || o.Memory.Percent != 25 {
		t.Errorf("%+v", o)
	}
	if o.ActiveServers != 1 || o.ActiveRegions != 1 || o.UptimeSeconds < 90 {
		t.Errorf("%+v", o)
	}
}

func TestMetrics_ANodeIsThisOneOrAnAgentByItsOwnWords(t *testing.T) {
	w := newWorld(t)
	w.agent("192.0.2.7", wire.ClaimHealthy)
	w.worked()
	own := ask[api.NodeMetricsAnswer](w, "/api/v1/metrics/nodes/node-1").Metrics
	if own.NodeType != api.NodeOverwatch || own.Status != "online" || own.QueriesTotal != 600 {
		t.Errorf("%+v", own)
	}
	agent := ask[api.NodeMetricsAnswer](w, "/api/v1/metrics/nodes/"+agentName).Metrics
	if agent.NodeType != api.NodeAgent || agent.Status != "online" || agent.ChecksTotal != 250 ||
		agent.ChecksPerSec != 2.5 || agent.ErrorRate != 0.1 || agent.CPU.Cores != 4 || agent.Memory.UsedBytes != nil {
		t.Errorf("%+v", agent)
	}
	w.wantError("nobody", w.send("GET", "/api/v1/metrics/nodes/nobody", ""), 404, "nobody")
}

func TestMetrics_ARegionIsItsServersAndItsTraffic(t *testing.T) {
	w := newWorld(t)
	w.validate(service+":192.0.2.1:80", check.StateHealthy, "")
	w.validate(service+":192.0.2.2:80", check.StateUnhealthy, "refused")
	m := ask[api.RegionMetricsAnswer](w, "/api/v1/metrics/regions/eu").Metrics
	if m.QueriesTotal != nil || m.TrafficPercent != nil {
		t.Errorf("nothing counts, and yet %+v", m)
	}
	w.worked()
	m = ask[api.RegionMetricsAnswer](w, "/api/v1/metrics/regions/EU").Metrics
	if m.TotalServers != 2 || m.HealthyServers != 1 || m.ErrorRate != 0.5 || m.ResponseTimes.AvgMS != 1.5 ||
		*m.QueriesTotal != 450 || !passes(*m.QueriesPerSec, 7.5) || *m.TrafficPercent != 75 {
		t.Errorf("%+v", m)
	}
	if empty := ask[api.RegionMetricsAnswer](w, "/api/v1/metrics/regions/us").Metrics; empty.TotalServers != 0 ||
		*empty.QueriesTotal != 150 {
		t.Errorf("%+v", empty)
	}
	w.wantError("no region", w.send("GET", "/api/v1/metrics/regions/mars", ""), 404, "mars")
}

func TestMetrics_HistoryRefusesWhatItCannotShow(t *testing.T) {
	w := newWorld(t)
	for query, word := range map[string]string{
		"duration=0s": "duration", "duration=721h": "720h", "duration=x": "duration",
		"duration=1h&start_time=2026-01-01T00:00:00Z": "start_time", "start_time=yesterday": "start_time",
		"start_time=2026-01-02T00:00:00Z&end_time=2026-01-01T00:00:00Z": "before", "resolution=10m": "resolution",
		"metrics=queries": "queries_per_sec", "what=1": "what",
	} {
		w.wantError(query, w.send("GET", "/api/v1/metrics/history?"+query, ""), 400, word)
	}
	if h := ask[api.History](w, "/api/v1/metrics/history?duration=24h&metrics=queries_per_sec"); h.DataPoints == nil ||
		h.Total != 0 {
		t.Errorf("%+v", h)
	}
	if body := w.send("GET", "/api/v1/metrics/history", "").body; !strings.Contains(body, `"data_points":[]`) {
		t.Error(body)
	}
}
