package httpapi

import (
	"strings"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

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
	if a := policy.Named(c.Param("id")); a != nil {
		return ok(api.RoutingAlgorithmDetail{Algorithm: algorithmView(a)}), nil
	}
	return answer{}, notFound("there is no routing algorithm %.64q: there are %s", c.Param("id"),
		strings.Join(policy.Names(policy.Algorithms()), ", "))
}
