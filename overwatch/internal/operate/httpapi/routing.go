package httpapi

import (
	"cmp"
	"errors"
	"math"
	"net/netip"
	"strings"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
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
		SelectedBackend: &api.RoutingBackend{Address: "192.0.2.1", Port: 80, Region: "eu-west", Weight: 100,
			Priority: 2,
			Healthy:  true, Share: 1},
		Alternatives: []api.RoutingBackend{},
		Excluded: []api.RoutingExcluded{{Address: "198.51.100.1", Port: 80, Region: "us-east",
			Reason: "unhealthy: the agent reports unhealthy: connection refused"}},
		Factors: []api.RoutingFactor{{Name: "client_region", Type: "geo", Value: "us-east",
			Impact: "its own region has nothing to answer with: eu-west is next"}},
		WouldBe: []api.RoutingWouldBe{{IfUp: "198.51.100.1:80", Decision: api.RoutingSuccess, Region: "us-east",
			Answers: []api.RoutingShare{{Address: "198.51.100.1", Share: 1}}}},
		Decision: api.RoutingFailover, Answer: []string{"app.example.com. 30 IN A 192.0.2.1"}, ECSScope: 24, TTL: 30,
		TimeMicros: 2.5, Generation: 17, Timestamp: exampleTime(),
	}}
	span := []Parameter{moment("start_time", "not before"), moment("end_time", "not after")}
	byAlgorithm := text("algorithm", "list only answers by this algorithm", nil)
	// The document does not list the values.
	byAlgorithm.check = word(byAlgorithm.Name, "", policy.AlgorithmNames(policy.Algorithms())).check
	addresses := word("query_type", "type of the addresses, by default A", []string{"A", "AAAA"})
	addresses.check = nil // familyOf accepts lower case
	return []Operation{
		{Method: get, Path: v1 + "/routing/algorithms", handle: (*Server).listRoutingAlgorithms, Query: none,
			Summary: "List routing algorithms", Status: 200,
			Answer: api.RoutingAlgorithmList{Algorithms: []api.RoutingAlgorithm{algorithm}, Total: 1,
				GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/routing/algorithms/{id}", handle: (*Server).getRoutingAlgorithm,
			Summary: "Get a routing algorithm", Status: 200, Answer: api.RoutingAlgorithmDetail{Algorithm: algorithm}},
		{Method: post, Path: v1 + "/routing/test", handle: (*Server).postRoutingTest, Role: api.RoleRead,
			Summary: "Explain the answer to a client",
			Description: "Computes the answer from the published view, as DNS does. Nothing changes. Requires client_ip or " +
				"place. " +
				"With place, the client is in a network that the geolocation database has near it. query_type is " +
				model.RecordTypeNames() + ".",
			Body: api.RoutingTestRequest{Domain: "app.example.com", ClientIP: "203.0.113.7", QueryType: "A",
				EDNS: &api.RoutingEDNS{ClientSubnet: "198.51.100.0/24"}},
			Required: []string{"domain"}, Status: 200, Answer: test},
		{Method: post, Path: v1 + "/routing/consequences", handle: decoded((*Server).postConsequences),
			Role:    api.RoleOperate,
			Summary: "Check the consequences of removing backends",
			Description: "Returns the names that would have too few backends without the backends, regions and agents of the " +
				"request. An active drain is treated as ended. Nothing changes.",
			Body: api.ConsequenceRequest{Backends: []string{exampleServer}}, Status: 200,
			Answer: api.ConsequenceList{Names: []api.Consequence{{Name: "app.example.com", Answer: api.AnswerNone,
				QueryTypes: []string{"A"}, Minimum: 1}}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/routing/answers", handle: (*Server).getRoutingAnswers,
			Summary:     "Get answers to clients by region",
			Description: "Computes the answers from the published view. A wildcard name has its asterisk.", Status: 200,
			Errors: []int{absent},
			Query: []Parameter{needed(text("domain", "the name of a domain", "app.example.com")),
				addresses},
			Answer: api.RoutingAnswerList{Domain: "app.example.com", QueryType: "A", Answers: []api.RoutingAnswer{{
				ClientRegion: "us-east", Decision: api.RoutingFailover, Algorithm: "geolocation", TTL: 30,
				Addresses: []api.RoutingShare{{Address: "192.0.2.1", Share: 1}},
			}}, Total: 1, Generation: 17, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/routing/decisions", handle: (*Server).listRoutingDecisions,
			Summary: "List sampled answers, the latest first", Status: 200,
			Query: paged(span[0], span[1], text("domain", "list only answers for this domain", nil),
				byAlgorithm,
				text("region", "list only answers with a backend in this region", nil),
				word("outcome", "list only answers with this outcome", api.RoutingDecisionKinds())),
			Answer: api.RoutingDecisionList{Decisions: []api.RoutingDecision{{
				ID: "0-1", Timestamp: exampleTime(), Domain: "app.example.com", QueryType: "A", ClientSubnet: "203.0.113.0/24",
				ClientRegion: "us-east", Algorithm: "geolocation",
				SelectedServer: "192.0.2.1:80", SelectedRegion: "eu-west", Outcome: api.RoutingFailover, Generation: 17,
			}}, Total: 1, Limit: 100, GeneratedAt: exampleTime()}},
		{Method: get, Path: v1 + "/routing/decisions/{id}", handle: (*Server).getRoutingDecision, Query: none,
			Summary: "Explain a sampled answer with the state at its time", Status: 200, Answer: test},
		{Method: get, Path: v1 + "/routing/flows", handle: (*Server).listRoutingFlows,
			Summary: "Count answers by client region and backend region", Status: 200,
			Query: paged(span[0], span[1], text("source_region", "count only answers to clients in this region", nil),
				text("dest_region", "count only answers with a backend in this region", nil),
				text("domain", "count only answers for this domain", nil)),
			Answer: api.RoutingFlowList{Flows: []api.RoutingFlow{{
				SourceRegion: "us-east", DestinationRegion: "eu-west", Domain: "app.example.com", RequestCount: 1200,
				Share:     1,
				Timestamp: exampleTime(),
			}}, Total: 1, GeneratedAt: exampleTime()}},
	}
}

// maxQuestion is the maximum length of a queried name in octets, in zone-file form with every octet escaped.
const maxQuestion = 4 * 255

// postRoutingTest answers POST /routing/test.
func (s *Server) postRoutingTest(c *call) (answer, error) {
	result, decided, err := s.testRouting(c.body)
	if err == nil && decided != "" && !c.sees(s.explained(decided)...) { // a wildcard or an alias led to another domain
		return answer{}, outsideScope(c.actor)
	}
	return ok(api.RoutingTest{Result: result}), err
}

// testRouting returns the answer to the query in a request body, with its explanation. decided is the domain that
// decided the answer; empty if no domain did.
func (s *Server) testRouting(body []byte) (result api.RoutingResult, decided string, err error) {
	var req routingTest
	if err := strictjson.Decode(body, &req); err != nil {
		return result, decided, err
	}
	nearby, err := s.replacePlace(&req)
	if err != nil {
		return result, decided, err
	}
	q, subnet, err := req.query()
	if err != nil {
		return result, decided, err
	}
	cfg, _ := s.o.Config()
	if subnet.IsValid() && subnet.Bits() > 0 && cfg.Overwatch.Geolocation.ECSEnabled {
		q.Client, q.Subnet = subnet.Addr(), true
	}
	e, err := explain.Explain(s.o.DNSView(), q)
	if errors.Is(err, zone.ErrName) {
		return result, decided, badRequest("domain is %.260q: it must be a domain name such as app.example.com", req.Domain)
	}
	if err != nil {
		return result, decided, err
	}
	if e.Basis != nil {
		decided = e.Basis.Name
	}
	result = e.Record(s.o.Now())
	result.QueryType, result.Nearby, result.ClientIP = req.kind(), nearby, req.ClientIP
	result.Domain = wire.CanonicalService(req.Domain)
	if q.Subnet {
		result.ClientSubnet = subnet.String()
	} else if subnet.IsValid() {
		result.ECSScope = 0 // the option is disabled or has length 0
	}
	return result, decided, nil
}

// routingTest is api.RoutingTestRequest with optional coordinates of the place.
type routingTest struct {
	Domain   string `json:"domain"`
	ClientIP string `json:"client_ip"`
	Place    *struct {
		Latitude  *float64 `json:"latitude"`
		Longitude *float64 `json:"longitude"`
	} `json:"place"`
	QueryType string           `json:"query_type"`
	EDNS      *api.RoutingEDNS `json:"edns"`
}

// kind returns the record type of the query, in upper case.
func (r *routingTest) kind() string { return strings.ToUpper(cmp.Or(r.QueryType, "A")) }

// query returns the query without its client subnet, and the subnet or the zero value.
func (r *routingTest) query() (q explain.Query, subnet netip.Prefix, err error) {
	q.Name = r.Domain
	if q.Name == "" || len(q.Name) > maxQuestion {
		return q, subnet, badRequest("domain is %.260q: it must be a domain name such as app.example.com", r.Domain)
	}
	q.Client, err = netip.ParseAddr(r.ClientIP)
	if err != nil || q.Client.Zone() != "" {
		return q, subnet, badRequest(
			"client_ip is %.64q: it must be the IP address of a client, such as 203.0.113.7; or give place", r.ClientIP)
	}
	if q.Type = zone.ParseProbeType(r.kind()); q.Type == 0 {
		return q, subnet, badRequest("query_type is %.64q: it must be %s", r.QueryType, model.RecordTypeNames())
	}
	if r.EDNS == nil || r.EDNS.ClientSubnet == "" {
		return q, subnet, nil
	}
	subnet, err = netip.ParsePrefix(r.EDNS.ClientSubnet)
	if err != nil || subnet != subnet.Masked() {
		return q, subnet,
			badRequest(
				"edns.client_subnet is %.64q: it must be a network without bits behind its prefix, such as "+
					"203.0.113.0/24",
				r.EDNS.ClientSubnet)
	}
	return q, subnet, nil
}

// replacePlace handles a request with a place: it sets ClientIP to an address that the geolocation database has near
// the place, and returns the location of the address. For other requests it returns nil.
func (s *Server) replacePlace(r *routingTest) (*api.RoutingNearby, error) {
	place := r.Place
	if place == nil {
		return nil, nil
	}
	if r.ClientIP != "" {
		return nil, badRequest("client_ip and place are both given: give one of them")
	}
	if place.Latitude == nil || math.Abs(*place.Latitude) > 90 {
		return nil, badRequest("place.latitude must be a number of degrees from -90 to 90, such as 50.1")
	}
	if place.Longitude == nil || math.Abs(*place.Longitude) > 180 {
		return nil, badRequest("place.longitude must be a number of degrees from -180 to 180, such as 8.7")
	}
	near, ok := s.o.Places().FindNearby(geo.Position{Latitude: *place.Latitude, Longitude: *place.Longitude})
	if !ok {
		return nil, badRequest("place needs a geolocation database with positions, such as GeoLite2-City, in " +
			"overwatch.geolocation.database_path of this node: give client_ip instead")
	}
	r.ClientIP = near.Network.Addr().String()
	return &api.RoutingNearby{Place: api.Place{Latitude: near.Position.Latitude, Longitude: near.Position.Longitude},
		Network: near.Network.String(), Kilometres: math.Round(near.Kilometres)}, nil
}
