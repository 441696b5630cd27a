package apidoc

import (
	"gslb.internal/shared/api"
)

func routingOperations() []operation {
	algorithm := api.RoutingAlgorithm{
		ID: "weighted", Name: "Weighted", Description: "backends that may serve share the answers in proportion to their weights", Type: "static",
		Parameters: map[string]string{"weight": "of each backend"}, Enabled: true,
	}
	test := api.RoutingTest{Result: api.RoutingResult{
		Domain: "app.example.com", QueryType: "A", ClientIP: "203.0.113.7", ClientRegion: "us-east", LocatedBy: "custom_mapping", Algorithm: "geolocation",
		SelectedBackend: &api.RoutingBackend{Address: "192.0.2.1", Port: 80, Region: "eu-west", Weight: 100, Priority: 2, Healthy: true, Share: 1},
		Alternatives:    []api.RoutingBackend{},
		Excluded:        []api.RoutingExcluded{{Address: "198.51.100.1", Port: 80, Region: "us-east", Reason: "unhealthy: its agent says unhealthy: connection refused"}},
		Factors:         []api.RoutingFactor{{Name: "client_region", Type: "geo", Value: "us-east", Impact: "its own region has nothing to answer with: eu-west is next"}},
		WouldBe: []api.RoutingWouldBe{{IfUp: "198.51.100.1:80", Decision: api.RoutingSuccess, Region: "us-east",
			Answers: []api.RoutingShare{{Address: "198.51.100.1", Share: 1}}}},
		Decision: api.RoutingFailover, Answer: []string{"app.example.com. 30 IN A 192.0.2.1"}, ECSScope: 24, TTL: 30, TimeMicros: 2.5, Generation: 17, Timestamp: at(),
	}}
	span := []parameter{moment("start_time", "not before"), moment("end_time", "not after")}
	return []operation{
		{method: get, path: v1 + "/routing/algorithms", summary: "The routing algorithms", status: 200,
			answer: api.RoutingAlgorithmList{Algorithms: []api.RoutingAlgorithm{algorithm}, Total: 1, GeneratedAt: at()}},
		{method: get, path: v1 + "/routing/algorithms/{id}", summary: "One routing algorithm", status: 200, answer: api.RoutingAlgorithmDetail{Algorithm: algorithm}},
		{method: post, path: v1 + "/routing/test", summary: "What a client is answered, and why", description: "By the function that answers DNS, from what DNS answers from. Nothing changes.",
			body:     api.RoutingTestRequest{Domain: "app.example.com", ClientIP: "203.0.113.7", QueryType: "A", EDNS: &api.RoutingEDNS{ClientSubnet: "198.51.100.0/24"}},
			required: []string{"domain", "client_ip"}, status: 200, answer: test},
		{method: get, path: v1 + "/routing/answers", summary: "What the clients of all regions are answered", description: "From what DNS answers from. A wildcard's name has its asterisk.", status: 200,
			query: []parameter{needed(text("domain", "the name of a domain", "app.example.com")), word("query_type", "the type of the addresses, A without it", []string{"A", "AAAA"})},
			answer: api.RoutingAnswerList{Domain: "app.example.com", QueryType: "A", Answers: []api.RoutingAnswer{{
				ClientRegion: "us-east", Decision: api.RoutingFailover, Algorithm: "geolocation", TTL: 30,
				Addresses: []api.RoutingShare{{Address: "192.0.2.1", Share: 1}},
			}}, Total: 1, Generation: 17, GeneratedAt: at()}},
		{method: get, path: v1 + "/routing/decisions", summary: "Sampled answers, the newest first", status: 200,
			query: paged(span[0], span[1], text("domain", "only of this domain", nil), text("algorithm", "only by this algorithm", nil),
				text("region", "only with a backend in this region", nil), word("outcome", "only of this outcome", api.RoutingDecisionKinds())),
			answer: api.RoutingDecisionList{Decisions: []api.RoutingDecision{{
				ID: "0-1", Timestamp: at(), Domain: "app.example.com", QueryType: "A", ClientSubnet: "203.0.113.0/24", ClientRegion: "us-east", Algorithm: "geolocation",
				SelectedServer: "192.0.2.1:80", SelectedRegion: "eu-west", Outcome: api.RoutingFailover, Generation: 17,
			}}, Total: 1, Limit: 100, GeneratedAt: at()}},
		{method: get, path: v1 + "/routing/decisions/{id}", summary: "Why a sampled answer was given, from what was known then", status: 200, answer: test},
		{method: get, path: v1 + "/routing/flows", summary: "From where to where answers have sent clients", status: 200,
			query: paged(span[0], span[1], text("source_region", "only of clients in this region", nil), text("dest_region", "only to backends in this region", nil),
				text("domain", "only of this domain", nil)),
			answer: api.RoutingFlowList{Flows: []api.RoutingFlow{{
				SourceRegion: "us-east", DestinationRegion: "eu-west", Domain: "app.example.com", RequestCount: 1200, Share: 1, Timestamp: at(),
			}}, Total: 1, GeneratedAt: at()}},
	}
}
