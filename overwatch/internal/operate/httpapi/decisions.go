package httpapi

import (
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// decisionFilter selects decisions. A zero field selects all.
type decisionFilter struct {
	start, end     time.Time
	domain, region string
	algorithm      string
	outcome        api.RoutingDecisionKind
}

func (p params) decisions() (f decisionFilter, err error) {
	f = decisionFilter{
		domain: wire.CanonicalService(p["domain"]), region: p["region"], algorithm: p["algorithm"],
		outcome: api.RoutingDecisionKind(p["outcome"]),
	}
	f.start, f.end, err = p.period()
	return f, err
}

// passes reports whether a decision matches the filters that need no explanation: time and domain.
func (f *decisionFilter) passes(at time.Time, domain string) bool {
	return (f.start.IsZero() || !at.Before(f.start)) && (f.end.IsZero() || !at.After(f.end)) &&
		(f.domain == "" || f.domain == wire.CanonicalService(domain))
}

func (f *decisionFilter) wants(d *api.RoutingDecision) bool {
	return (f.algorithm == "" || f.algorithm == d.Algorithm) && matchesRegion(f.region, d.SelectedRegion) &&
		(f.outcome == "" || f.outcome == d.Outcome)
}

// listRoutingDecisions answers GET /routing/decisions.
func (s *Server) listRoutingDecisions(c *call) (answer, error) {
	f, err := c.query.decisions()
	if err != nil {
		return answer{}, err
	}
	var chosen []api.RoutingDecision
	for _, d := range s.o.Decisions.Decisions() {
		if !f.passes(d.At, d.Selection.Input.Name) {
			continue
		}
		past := d.Summary()
		if view := decisionView(&past); f.wants(&view) {
			chosen = append(chosen, view)
		}
	}
	restored := s.o.Decisions.Restored()
	for i := range restored {
		past := &restored[i]
		if view := decisionView(past); f.passes(past.At, past.Domain) && f.wants(&view) {
			chosen = append(chosen, view)
		}
	}
	list := api.RoutingDecisionList{Limit: c.page.limit, Offset: c.page.offset, GeneratedAt: stamp(s.o.Now())}
	list.Decisions, list.Total = pageOf(slices.Values(chosen), c.page,
		func(d api.RoutingDecision) api.RoutingDecision { return d })
	return ok(list), nil
}

func decisionView(d *decisions.Summary) api.RoutingDecision {
	view := api.RoutingDecision{
		ID: d.ID, Timestamp: stamp(d.At), Domain: wire.CanonicalService(d.Domain), QueryType: d.Family.QueryType(),
		ClientSubnet: d.Client.String(), ClientRegion: d.ClientRegion, Algorithm: d.Algorithm,
		Outcome: api.RoutingDecisionKind(d.Outcome), Generation: d.Generation,
	}
	if d.Server != nil {
		view.SelectedServer = explain.Endpoint(&policy.Candidate{
			Address: d.Server.Address, Port: d.Server.Port, Target: d.Server.Target})
		view.SelectedRegion = d.Server.Region
	}
	return view
}

// getRoutingDecision answers GET /routing/decisions/{id} with the reasons of an answer, from the data at the time of
// the answer.
func (s *Server) getRoutingDecision(c *call) (answer, error) {
	d, found := s.o.Decisions.Decision(c.Param("id"))
	isParam := func(p decisions.Summary) bool { return p.ID == c.Param("id") }
	if !found && slices.ContainsFunc(s.o.Decisions.Restored(), isParam) {
		return answer{}, notFound("the decision %.64q is from before the restart of this node: the list has its "+
			"result, and "+
			"its reasons are no longer known", c.Param("id"))
	}
	if !found {
		return answer{}, notFound("no sampled decision %.64q is kept: at most %d per socket are, until the node ends",
			c.Param("id"), decisions.RingSize)
	}
	e := explain.ExplainPast(explain.Query{Name: strings.TrimSuffix(d.Selection.Input.Name, "."),
		Family: d.Selection.Family,
		Client: d.Client.Addr()}, d.Selection)
	if place, err := s.o.Places().ExplainFor(e.Client, e.Basis.Clients); err == nil && place.Region == e.Region {
		e.Place = &place // the location of the client at that time
	}
	result := e.Record(s.o.Now())
	result.ClientIP, result.Timestamp = d.Client.String(), stamp(d.At)
	return ok(api.RoutingTest{Result: result}), nil
}

// listRoutingFlows answers GET /routing/flows.
func (s *Server) listRoutingFlows(c *call) (answer, error) {
	start, end, err := c.query.period()
	if err != nil {
		return answer{}, err
	}
	var all uint64
	var chosen []decisions.FlowCount
	for _, f := range s.o.Decisions.Flows(start, end) {
		if matches(c.query["source_region"], f.Source) && matches(c.query["dest_region"], f.Destination) &&
			matches(wire.CanonicalService(c.query["domain"]), f.Domain) {
			chosen = append(chosen, f)
			all += f.Count
		}
	}
	list := api.RoutingFlowList{Uncounted: s.o.Decisions.Missed(), GeneratedAt: stamp(s.o.Now())}
	list.Flows, list.Total = pageOf(slices.Values(chosen), c.page, func(f decisions.FlowCount) api.RoutingFlow {
		return api.RoutingFlow{
			SourceRegion: f.Source, DestinationRegion: f.Destination, Domain: f.Domain, RequestCount: f.Count,
			Share: float64(f.Count) / float64(all), Timestamp: stamp(f.Latest),
		}
	})
	return ok(list), nil
}
