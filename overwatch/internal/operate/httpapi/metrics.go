package httpapi

import (
	"math"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/operate/figures"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/shared/api"
)

// defaultHistory is the length of GET /metrics/history without parameters.
const defaultHistory = time.Hour

// getHistory answers GET /metrics/history.
func (s *Server) getHistory(c *call) (answer, error) {
	now := s.o.Now()
	from, to, err := c.query.timeRange(now)
	if err != nil {
		return answer{}, err
	}
	resolution := c.query.resolution(to.Sub(from))
	names := history.Names()
	wanted := c.query.list("metrics")
	list := api.History{DataPoints: []api.HistoryPoint{}, GeneratedAt: stamp(now)}
	for _, p := range s.o.History.Points(from, to, resolution) {
		point := api.HistoryPoint{Timestamp: stamp(p.At), Values: map[string]float64{}}
		for i, name := range names {
			if v := p.Values[i]; !math.IsNaN(v) && (len(wanted) == 0 || slices.Contains(wanted, name)) {
				point.Values[name] = figures.Rounded(v)
			}
		}
		list.DataPoints = append(list.DataPoints, point)
	}
	list.Total = len(list.DataPoints)
	return ok(list), nil
}

// timeRange returns the ends of the history: start_time and end_time, or a duration up to end_time.
func (p params) timeRange(now time.Time) (from, to time.Time, err error) {
	const longest = history.Hours * time.Hour
	from, to = p.moment("start_time"), p.moment("end_time")
	if to.IsZero() {
		to = now
	}
	text, given := p["duration"]
	switch {
	case given && !from.IsZero():
		return from, to, badRequest("duration and start_time both say where to begin: give one of them")
	case !given && from.IsZero():
		return to.Add(-defaultHistory), to, nil
	case given:
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > longest {
			return from, to, badRequest("duration is %.64q: it must be above zero and at most %s, such as 1h", text,
				longest)
		}
		return to.Add(-d), to, nil
	case !from.Before(to):
		return from, to, badRequest("start_time is not before end_time")
	}
	return from, to, nil
}

// resolution returns the length of a point: the one that is asked for, else one that suits the length of the history.
func (p params) resolution(length time.Duration) time.Duration {
	switch word := p["resolution"]; {
	case word == "1m", word == "" && length <= 6*time.Hour:
		return time.Minute
	case word == "5m", word == "" && length <= history.Minutes*time.Minute:
		return 5 * time.Minute
	}
	return time.Hour
}

// getNodeMetrics answers GET /metrics/nodes/{id}: figures of this node, or those that an agent has reported.
func (s *Server) getNodeMetrics(c *call) (answer, error) {
	id := c.Param("id")
	if id == s.o.NodeID {
		return ok(api.NodeMetricsAnswer{Metrics: s.figures.Own()}), nil
	}
	if state, heard := s.o.View.Agent(id); heard {
		return ok(api.NodeMetricsAnswer{Metrics: s.figures.Agent(state)}), nil
	}
	if slices.ContainsFunc(s.o.Members(), func(m gossip.Member) bool { return m.Name == id }) {
		return answer{}, notFound("%.260q is another overwatch node, whose figures this one does not have: ask it", id)
	}
	return answer{}, notFound("no node %.260q has told its figures to this one", id)
}

// getOverview answers GET /metrics/overview.
func (s *Server) getOverview(*call) (answer, error) {
	return ok(api.OverviewAnswer{Overview: s.figures.Overview()}), nil
}

// getRegionMetrics answers GET /metrics/regions/{id}.
func (s *Server) getRegionMetrics(c *call) (answer, error) {
	m, found := s.figures.Region(s.regionNames().Of(c.Param("id")))
	if !found {
		return answer{}, notFound("no region %.64q is configured", m.RegionID)
	}
	return ok(api.RegionMetricsAnswer{Metrics: m}), nil
}

// getRoutingMetrics answers GET /metrics/routing.
func (s *Server) getRoutingMetrics(*call) (answer, error) {
	return ok(api.RoutingStatsAnswer{Stats: s.figures.Routing()}), nil
}

// getStats answers GET /overwatch/stats.
func (s *Server) getStats(*call) (answer, error) { return ok(s.figures.Backends()), nil }
