package explain

import (
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// Record converts an explanation to the form of the API. now is the time of the explanation.
func (e *Explanation) Record(now time.Time) api.RoutingResult {
	r := api.RoutingResult{
		Domain: wire.CanonicalService(e.Name), QueryType: e.Family.QueryType(), ClientRegion: e.Region,
		LocatedBy:    e.locatedBy(),
		Alternatives: []api.RoutingBackend{}, Excluded: []api.RoutingExcluded{}, Factors: []api.RoutingFactor{},
		WouldBe:  []api.RoutingWouldBe{},
		Decision: api.RoutingDecisionKind(e.Outcome), Answer: append([]string{}, e.Records...), ECSScope: int(e.Scope),
		TTL:        int(e.TTL),
		TimeMicros: float64(e.Took.Nanoseconds()) / 1000, Timestamp: api.Stamp(now),
	}
	if e.Place != nil {
		r.ClientCountry = e.Place.Record.Country
	}
	if e.Basis == nil {
		return r
	}
	r.Algorithm, r.Generation = e.Decision.Algorithm.String(), e.Basis.Generation
	selected := e.Selected()
	for i := range e.Backends {
		b := &e.Backends[i]
		switch {
		case b.Excluded != "":
			r.Excluded = append(r.Excluded, api.RoutingExcluded{Address: b.Address.String(), Port: int(b.Port),
				Region: b.Region,
				Reason: b.Excluded})
		case b == selected:
			view := e.record(b)
			r.SelectedBackend = &view
		default:
			r.Alternatives = append(r.Alternatives, e.record(b))
		}
	}
	for _, f := range e.Factors() {
		r.Factors = append(r.Factors, api.RoutingFactor{Name: f.Name, Type: string(f.Type), Value: f.Value,
			Impact: f.Impact})
	}
	for _, w := range e.WouldBe {
		r.WouldBe = append(r.WouldBe, w.record())
	}
	return r
}

func (e *Explanation) record(b *Backend) api.RoutingBackend {
	return api.RoutingBackend{
		Address: b.Address.String(), Port: int(b.Port), Region: b.Region, Weight: b.Weight,
		Priority: RegionPriority(e.Basis.Rules.Regions, b.Region), Healthy: b.MayServe, Share: b.Share,
	}
}

func (w *WouldBe) record() api.RoutingWouldBe {
	out := api.RoutingWouldBe{IfUp: "all", Decision: api.RoutingDecisionKind(w.Decision.Outcome),
		Region: w.Decision.Region, Answers: []api.RoutingShare{}}
	if w.If != nil {
		out.IfUp = Endpoint(w.If)
	}
	for _, due := range w.Decision.Members {
		out.Answers = append(out.Answers, api.RoutingShare{Address: due.Name(),
			Share: Share(w.Decision.Members, due)})
	}
	return out
}

// locatedBy returns the source of the client location.
func (e *Explanation) locatedBy() string {
	switch {
	case e.Place != nil && e.Place.Match == geo.ByCustomMapping:
		return "custom_mapping"
	case e.Place != nil && (e.Place.Match == geo.ByCountry || e.Place.Match == geo.ByContinent):
		return "database"
	case e.Region != "":
		return "default"
	case e.Subnet:
		return "ecs"
	}
	return "resolver"
}

// Record converts an answer to the form of the API.
func (g *RegionAnswer) Record() api.RoutingAnswer {
	view := api.RoutingAnswer{
		ClientRegion: g.Region, Everybody: g.Everybody, Decision: api.RoutingDecisionKind(g.Decision.Outcome),
		Algorithm: g.Decision.Algorithm.String(), TTL: int(g.Decision.TTL), Addresses: []api.RoutingShare{},
	}
	for _, due := range g.Decision.Members {
		view.Addresses = append(view.Addresses, api.RoutingShare{Address: due.Name(),
			Share: Share(g.Decision.Members, due)})
	}
	return view
}

// RegionPriority returns the position of a region in the order of a domain, from 1. Unlisted regions follow.
func RegionPriority(order []string, region string) int {
	if at := slices.Index(order, region); at >= 0 {
		return at + 1
	}
	return len(order) + 1
}
