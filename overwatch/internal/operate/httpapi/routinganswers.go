package httpapi

import (
	"errors"
	"strings"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// getRoutingAnswers answers GET /routing/answers: the answers to clients of all regions, from the view that DNS
// answers from.
func (s *Server) getRoutingAnswers(c *call) (answer, error) {
	if c.query["domain"] == "" || len(c.query["domain"]) > maxQuestion {
		return answer{}, badRequest("domain is %.260q: it must be the name of a domain, such as app.example.com",
			c.query["domain"])
	}
	family, err := familyOf(c.query["query_type"])
	if err != nil {
		return answer{}, err
	}
	given, err := explain.ByRegion(s.o.DNSView(), c.query["domain"], family)
	if errors.Is(err, zone.ErrName) {
		return answer{}, badRequest("domain is %.260q: it must be the name of a domain, such as app.example.com",
			c.query["domain"])
	}
	if err != nil {
		return answer{}, err
	}
	if len(given) == 0 {
		return answer{}, notFound("no domain %.260q is steered here: GET /api/v1/domains lists them", c.query["domain"])
	}
	list := api.RoutingAnswerList{Domain: wire.CanonicalService(c.query["domain"]), QueryType: family.QueryType(),
		GeneratedAt: stamp(s.o.Now())}
	for i := range given {
		list.Answers = append(list.Answers, routingAnswer(&given[i]))
	}
	list.Total, list.Generation = len(list.Answers), given[0].Decision.Basis.Generation
	return ok(list), nil
}

func routingAnswer(g *explain.RegionAnswer) api.RoutingAnswer {
	view := api.RoutingAnswer{
		ClientRegion: g.Region, Everybody: g.Everybody, Decision: api.RoutingDecisionKind(g.Decision.Outcome),
		Algorithm: g.Decision.Algorithm.String(), TTL: int(g.Decision.TTL), Addresses: []api.RoutingShare{},
	}
	for _, due := range g.Decision.Due {
		view.Addresses = append(view.Addresses, api.RoutingShare{Address: due.Name(),
			Share: explain.Share(g.Decision.Due, due)})
	}
	return view
}

// familyOf reads a query type that is steered, in any case; empty is A.
func familyOf(queryType string) (policy.Family, error) {
	switch strings.ToUpper(queryType) {
	case "", "A":
		return policy.IPv4, nil
	case "AAAA":
		return policy.IPv6, nil
	}
	return 0, badRequest("query_type is %.64q: it must be A or AAAA, the types that are steered", queryType)
}
