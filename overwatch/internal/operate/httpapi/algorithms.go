package httpapi

import (
	"maps"
	"strings"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

// Keys of a domain that algorithms have in common.
var (
	byWeight  = map[string]string{"weight": "of each backend: its share is in proportion to it; 0 serves only when no other may"}
	inside    = map[string]string{"regions[].routing_algorithm": "how backends inside the region are chosen: weighted, round-robin, latency or client-hash"}
	otherwise = map[string]string{"fallback_algorithm": "another algorithm for what this one knows too little of"}
	networks  = map[string]string{
		"client_hash.ipv4_prefix": "leading bits of an IPv4 address that make a client's network",
		"client_hash.ipv6_prefix": "leading bits of an IPv6 address that make a client's network",
	}
	inOrder = map[string]string{"regions": "the order in which regions are preferred"}
)

// described is what the API says of the algorithms. A test holds it against those that there are.
var described = map[policy.Algorithm]api.RoutingAlgorithm{
	policy.RoundRobin: {Name: "Round robin", Type: "static", Description: "every backend that may serve has an equal share of the answers"},
	policy.Weighted: {Name: "Weighted", Type: "static", Description: "backends that may serve share the answers in proportion to their weights",
		Parameters: byWeight},
	policy.Failover: {Name: "Failover", Type: "static", Description: "the first region with enough backends that may serve answers, weighted inside it",
		Parameters: joined(byWeight, inOrder, inside, map[string]string{"failover_threshold": "how many backends that may serve make a region good enough"})},
	policy.Geolocation: {Name: "Geolocation", Type: "geo", Description: "the client's region answers, weighted inside it; else the nearest one that can",
		Parameters: joined(byWeight, inOrder, inside, otherwise)},
	policy.Proximity: {Name: "Proximity", Type: "geo", Description: "the region that is nearest to the client's position answers, weighted inside it, and those hardly farther away share with it",
		Parameters: joined(byWeight, inOrder, inside, otherwise, map[string]string{
			"proximity.tolerance_km":   "how many kilometres farther away than the nearest a region may be and share with it",
			"regions[].proximity_bias": "percent by which a region seems nearer than it is, or with a minus sign farther away",
		})},
	policy.ClientHash: {Name: "Client hash", Type: "hash", Description: "each client network keeps to one backend while that may serve; backends have networks in proportion to their weights",
		Parameters: joined(byWeight, networks)},
	policy.Latency: {Name: "Latency", Type: "measured", Description: "the backends that this node's own checks find fastest share by weight",
		Parameters: joined(byWeight, otherwise, map[string]string{
			"latency_config.smoothing_factor": "the weight of the newest measurement",
			"latency_config.max_latency_ms":   "slower backends wait",
			"latency_config.min_samples":      "backends that were measured less often are not compared",
		})},
}

func joined(parts ...map[string]string) map[string]string {
	all := make(map[string]string)
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

func algorithmView(a policy.Algorithm) api.RoutingAlgorithm {
	view := described[a]
	view.ID, view.Enabled, view.Default = string(a), true, a == policy.DefaultAlgorithm
	if view.Parameters == nil {
		view.Parameters = map[string]string{}
	}
	return view
}

// listRoutingAlgorithms answers GET /routing/algorithms.
func (s *Server) listRoutingAlgorithms(c *gin.Context) (answer, error) {
	if _, err := queryOf(c); err != nil {
		return answer{}, err
	}
	list := api.RoutingAlgorithmList{GeneratedAt: stamp(s.o.Now())}
	for _, a := range policy.Algorithms() {
		list.Algorithms = append(list.Algorithms, algorithmView(a))
	}
	list.Total = len(list.Algorithms)
	return ok(list), nil
}

// getRoutingAlgorithm answers GET /routing/algorithms/{id}.
func (s *Server) getRoutingAlgorithm(c *gin.Context) (answer, error) {
	var names []string
	for _, a := range policy.Algorithms() {
		if string(a) == c.Param("id") {
			return ok(api.RoutingAlgorithmDetail{Algorithm: algorithmView(a)}), nil
		}
		names = append(names, string(a))
	}
	return answer{}, notFound("there is no routing algorithm %.64q: there are %s", c.Param("id"), strings.Join(names, ", "))
}
