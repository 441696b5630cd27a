package httpapi

import (
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

func routingOperations() []Operation {
	algorithm := api.RoutingAlgorithm{
		ID: "weighted", Name: "Weighted",
		Description: "backends that may serve share the answers in proportion to their weights", Type: "static",
		Parameters: map[string]string{"weight": "of each backend"}, Enabled: true,
	}
	test := api.RoutingTest{Result: api.RoutingResult{
		Domain: "app.example.com", QueryType: "A", ClientIP: "203.0.113.7", ClientRegion: "us-east",
		LocatedBy: "custom_mapping", Algorithm: "geolocation",
		SelectedBackend: &api.RoutingBackend{Address: "192.0.2.1", Port: 80, Region: "eu-west", Weight: 100, Priority: 2,
			Healthy: true, Share: 1},
		Alternatives: []api.RoutingBackend{},
		Excluded: []api.RoutingExcluded{{Address: "198.51.100.1", Port: 80, Region: "us-east",
			Reason: "unhealthy: its agent says unhealthy: connection refused"}},
		Factors: []api.RoutingFactor{{Name: "client_region", Type: "geo", Value: "us-east",
			Impact: "its own region has nothing to answer with: eu-west is next"}},
		WouldBe: []api.RoutingWouldBe{{IfUp: "198.51.100.1:80", Decision: api.RoutingSuccess, Region: "us-east",
			Answers: []api.RoutingShare{{Address: "198.51.100.1", Share: 1}}}},
		Decision: api.RoutingFailover, Answer: []string{"app.example.com. 30 IN A 192.0.2.1"}, ECSScope: 24, TTL: 30,
		TimeMicros: 2.5, Generation: 17, Timestamp: at(),
	}}
	span := []Parameter{moment("start_time", "not before"), moment("end_time", "not after")}
	byAlgorithm := text("algorithm", "only by this algorithm", nil)
	// the document lists none of them
	byAlgorithm.check = word(byAlgorithm.Name, "", policy.Names(policy.Algorithms())).check
	addresses := word("query_type", "the type of the addresses, A without it", []string{"A", "AAAA"})
	addresses.check = nil // familyOf takes small letters too
	return []Operation{
		{Method: get, Path: v1 + "/routing/algorithms", handle: (*Server).listRoutingAlgorithms, Query: none,
			Summary: "The routing algorithms", Status: 200,
			Answer: api.RoutingAlgorithmList{Algorithms: []api.RoutingAlgorithm{algorithm}, Total: 1, GeneratedAt: at()}},
		{Method: get, Path: v1 + "/routing/algorithms/{id}", handle: (*Server).getRoutingAlgorithm,
			Summary: "One routing algorithm", Status: 200, Answer: api.RoutingAlgorithmDetail{Algorithm: algorithm}},
		{Method: post, Path: v1 + "/routing/test", handle: (*Server).postRoutingTest, Role: api.RoleRead,
			Summary: "What a client is answered, and why",
			Description: "By the function that answers DNS, from what DNS answers from. Nothing changes. It needs client_ip, " +
				"or place: then a network asks that the geolocation database has near it. query_type is A, AAAA, HTTPS or SRV.",
			Body: api.RoutingTestRequest{Domain: "app.example.com", ClientIP: "203.0.113.7", QueryType: "A",
				EDNS: &api.RoutingEDNS{ClientSubnet: "198.51.100.0/24"}},
			Required: []string{"domain"}, Status: 200, Answer: test},
		{Method: post, Path: v1 + "/routing/consequences", handle: decoded((*Server).postConsequences), Role: api.RoleOperate,
			Summary: "Which names would be left with too few backends",
			Description: "If these backends, those in these regions and those that live by these agents were drained, or " +
				"removed. Drains under way count as ended. Nothing changes.",
			Body: api.ConsequenceRequest{Backends: []string{exampleServer}}, Status: 200,
			Answer: api.ConsequenceList{Names: []api.Consequence{{Name: "app.example.com", Answer: api.AnswerNone,
				QueryTypes: []string{"A"}, Minimum: 1}}, Total: 1, GeneratedAt: at()}},
		{Method: get, Path: v1 + "/routing/answers", handle: (*Server).getRoutingAnswers,
			Summary:     "What the clients of all regions are answered",
			Description: "From what DNS answers from. A wildcard's name has its asterisk.", Status: 200, Errors: []int{absent},
			Query: []Parameter{needed(text("domain", "the name of a domain", "app.example.com")),
				addresses},
			Answer: api.RoutingAnswerList{Domain: "app.example.com", QueryType: "A", Answers: []api.RoutingAnswer{{
				ClientRegion: "us-east", Decision: api.RoutingFailover, Algorithm: "geolocation", TTL: 30,
				Addresses: []api.RoutingShare{{Address: "192.0.2.1", Share: 1}},
			}}, Total: 1, Generation: 17, GeneratedAt: at()}},
		{Method: get, Path: v1 + "/routing/decisions", handle: (*Server).listRoutingDecisions,
			Summary: "Sampled answers, the newest first", Status: 200,
			Query: paged(span[0], span[1], text("domain", "only of this domain", nil),
				byAlgorithm,
				text("region", "only with a backend in this region", nil),
				word("outcome", "only of this outcome", api.RoutingDecisionKinds())),
			Answer: api.RoutingDecisionList{Decisions: []api.RoutingDecision{{
				ID: "0-1", Timestamp: at(), Domain: "app.example.com", QueryType: "A", ClientSubnet: "203.0.113.0/24",
				ClientRegion: "us-east", Algorithm: "geolocation",
				SelectedServer: "192.0.2.1:80", SelectedRegion: "eu-west", Outcome: api.RoutingFailover, Generation: 17,
			}}, Total: 1, Limit: 100, GeneratedAt: at()}},
		{Method: get, Path: v1 + "/routing/decisions/{id}", handle: (*Server).getRoutingDecision, Query: none,
			Summary: "Why a sampled answer was given, from what was known then", Status: 200, Answer: test},
		{Method: get, Path: v1 + "/routing/flows", handle: (*Server).listRoutingFlows,
			Summary: "From where to where answers have sent clients", Status: 200,
			Query: paged(span[0], span[1], text("source_region", "only of clients in this region", nil),
				text("dest_region", "only to backends in this region", nil),
				text("domain", "only of this domain", nil)),
			Answer: api.RoutingFlowList{Flows: []api.RoutingFlow{{
				SourceRegion: "us-east", DestinationRegion: "eu-west", Domain: "app.example.com", RequestCount: 1200, Share: 1,
				Timestamp: at(),
			}}, Total: 1, GeneratedAt: at()}},
	}
}
