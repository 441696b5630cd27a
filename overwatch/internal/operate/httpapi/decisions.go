package httpapi

import (
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

// period reads the two ends of a time, which are zero where they were not given.
func (p params) period() (start, end time.Time, err error) {
	if start, err = p.moment("start_time"); err != nil {
		return start, end, err
	}
	if end, err = p.moment("end_time"); err != nil {
		return start, end, err
	}
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		return start, end, badRequest("end_time is %q: it must not be before start_time, which is %q", p["end_time"], p["start_time"])
	}
	return start, end, nil
}

// decisionFilter is a choice of decisions; what is empty matches all.
type decisionFilter struct {
	start, end     time.Time
	domain, region string
	algorithm      string
	outcome        api.RoutingDecisionKind
}

func (p params) decisions() (f decisionFilter, err error) {
	if f.start, f.end, err = p.period(); err != nil {
		return f, err
	}
	if f.algorithm, err = oneOf(p, "algorithm", policy.Names(policy.Algorithms())); err != nil {
		return f, err
	}
	f.outcome, err = oneOf(p, "outcome", api.RoutingDecisionKinds())
	f.domain, f.region = canonicalName(p["domain"]), p["region"]
	return f, err
}

// near says whether a decision passes what can be told without repeating it.
func (f *decisionFilter) near(d *decisions.Decision) bool {
	return (f.start.IsZero() || !d.At.Before(f.start)) && (f.end.IsZero() || !d.At.After(f.end)) &&
		(f.domain == "" || f.domain == canonicalName(d.Steered.Basis.Name))
}

func (f *decisionFilter) wants(d *api.RoutingDecision) bool {
	return (f.algorithm == "" || f.algorithm == d.Algorithm) && (f.region == "" || f.region == d.SelectedRegion) && (f.outcome == "" || f.outcome == d.Outcome)
}

// listRoutingDecisions answers GET /routing/decisions.
func (s *Server) listRoutingDecisions(c *gin.Context) (answer, error) {
	q, p, err := listQuery(c, "start_time", "end_time", "domain", "algorithm", "region", "outcome")
	if err != nil {
		return answer{}, err
	}
	f, err := q.decisions()
	if err != nil {
		return answer{}, err
	}
	var chosen []api.RoutingDecision
	for _, d := range s.o.Decisions.Decisions() {
		if !f.near(&d) {
			continue
		}
		if view := decisionView(&d); f.wants(&view) {
			chosen = append(chosen, view)
		}
	}
	list := api.RoutingDecisionList{Limit: p.limit, Offset: p.offset, GeneratedAt: stamp(s.o.Now())}
	list.Decisions, list.Total = pageOf(slices.Values(chosen), p, func(d api.RoutingDecision) api.RoutingDecision { return d })
	return ok(list), nil
}

func decisionView(d *decisions.Decision) api.RoutingDecision {
	basis := d.Steered.Basis
	decision, selected := d.Decide()
	view := api.RoutingDecision{
		ID: d.ID, Timestamp: stamp(d.At), Domain: canonicalName(basis.Name), QueryType: queryType(d.Steered.Family), ClientSubnet: d.Client.String(),
		ClientRegion: d.Steered.Client().Region, Algorithm: decision.Algorithm.String(), Outcome: api.RoutingDecisionKind(decision.Outcome),
		Generation: basis.Generation,
	}
	if selected != nil {
		view.SelectedServer, view.SelectedRegion = explain.Endpoint(selected), selected.Region
	}
	return view
}

// getRoutingDecision answers GET /routing/decisions/{id}: why an answer was what it was, from what was known then.
func (s *Server) getRoutingDecision(c *gin.Context) (answer, error) {
	if _, err := queryOf(c); err != nil {
		return answer{}, err
	}
	d, found := s.o.Decisions.Decision(c.Param("id"))
	if !found {
		return answer{}, notFound("no sampled decision %.64q is kept: at most %d per socket are, until the node ends", c.Param("id"), decisions.RingSize)
	}
	e := explain.Past(explain.Query{Name: strings.TrimSuffix(d.Steered.Basis.Name, "."), Family: d.Steered.Family, Client: d.Client.Addr()}, d.Steered)
	if place, err := s.o.Places().Explain(e.Client); err == nil && place.Region == e.Region {
		e.Place = &place // who was there then is there now
	}
	result := s.explanation(&e)
	result.ClientIP, result.Timestamp = d.Client.String(), stamp(d.At)
	return ok(api.RoutingTest{Result: result}), nil
}

// listRoutingFlows answers GET /routing/flows.
func (s *Server) listRoutingFlows(c *gin.Context) (answer, error) {
	q, p, err := listQuery(c, "start_time", "end_time", "source_region", "dest_region", "domain")
	if err != nil {
		return answer{}, err
	}
	start, end, err := q.period()
	if err != nil {
		return answer{}, err
	}
	var all uint64
	var chosen []decisions.FlowCount
	for _, f := range s.o.Decisions.Flows(start, end) {
		if wanted(q["source_region"], f.Source) && wanted(q["dest_region"], f.Destination) && wanted(canonicalName(q["domain"]), f.Domain) {
			chosen = append(chosen, f)
			all += f.Count
		}
	}
	list := api.RoutingFlowList{Uncounted: s.o.Decisions.Missed(), GeneratedAt: stamp(s.o.Now())}
	list.Flows, list.Total = pageOf(slices.Values(chosen), p, func(f decisions.FlowCount) api.RoutingFlow {
		return api.RoutingFlow{
			SourceRegion: f.Source, DestinationRegion: f.Destination, Domain: f.Domain, RequestCount: f.Count,
			Share: float64(f.Count) / float64(all), Timestamp: stamp(f.Latest),
		}
	})
	return ok(list), nil
}

func wanted(filter, value string) bool { return filter == "" || filter == value }
