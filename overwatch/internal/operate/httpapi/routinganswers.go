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

// getRoutingAnswers answers GET /routing/answers with the answers to clients of all regions, from the view of the DNS
// server.
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
		list.Answers = append(list.Answers, given[i].Record())
	}
	list.Total, list.Generation = len(list.Answers), given[0].Decision.Input.Generation
	return ok(list), nil
}

// familyOf parses a load-balanced query type, in any case. Empty means A.
func familyOf(queryType string) (policy.Family, error) {
	switch strings.ToUpper(queryType) {
	case "", "A":
		return policy.IPv4, nil
	case "AAAA":
		return policy.IPv6, nil
	}
	return 0, badRequest("query_type is %.64q: it must be A or AAAA, the types that are steered", queryType)
}

func algorithmView(a *policy.Algorithm) api.RoutingAlgorithm {
	view := api.RoutingAlgorithm{
		ID: a.Name, Name: a.Title, Type: a.Kind, Description: a.Description, Parameters: a.Parameters,
		Enabled: true, Default: a.Name == policy.DefaultAlgorithm,
	}
	if view.Parameters == nil {
		view.Parameters = map[string]string{}
	}
	return view
}

// listRoutingAlgorithms answers GET /routing/algorithms.
func (s *Server) listRoutingAlgorithms(c *call) (answer, error) {
	list := api.RoutingAlgorithmList{GeneratedAt: stamp(s.o.Now())}
	for _, a := range policy.Algorithms() {
		list.Algorithms = append(list.Algorithms, algorithmView(a))
	}
	list.Total = len(list.Algorithms)
	return ok(list), nil
}

// getRoutingAlgorithm answers GET /routing/algorithms/{id}.
func (s *Server) getRoutingAlgorithm(c *call) (answer, error) {
	if a := policy.FindAlgorithm(c.Param("id")); a != nil {
		return ok(api.RoutingAlgorithmDetail{Algorithm: algorithmView(a)}), nil
	}
	return answer{}, notFound("there is no routing algorithm %.64q: there are %s", c.Param("id"),
		strings.Join(policy.AlgorithmNames(policy.Algorithms()), ", "))
}
