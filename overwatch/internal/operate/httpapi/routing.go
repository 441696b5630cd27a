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
	"gslb.internal/shared/wire"
)

// maxQuestion bounds a queried name in octets, in zone-file form with every octet escaped.
const maxQuestion = 4 * 255

// postRoutingTest answers POST /routing/test.
func (s *Server) postRoutingTest(c *call) (answer, error) {
	result, err := s.testRouting(c.body)
	return ok(api.RoutingTest{Result: result}), err
}

// testRouting explains the answer to the query that a body describes.
func (s *Server) testRouting(body []byte) (result api.RoutingResult, err error) {
	var req routingTest
	if err := strictjson.Decode(body, &req); err != nil {
		return result, err
	}
	nearby, err := s.replacePlace(&req)
	if err != nil {
		return result, err
	}
	q, subnet, err := req.query()
	if err != nil {
		return result, err
	}
	cfg, _ := s.o.Config()
	if subnet.IsValid() && subnet.Bits() > 0 && cfg.Overwatch.Geolocation.ECSEnabled {
		q.Client, q.Subnet = subnet.Addr(), true
	}
	e, err := explain.Explain(s.o.DNSView(), q)
	if errors.Is(err, zone.ErrName) {
		return result, badRequest("domain is %.260q: it must be a domain name such as app.example.com", req.Domain)
	}
	if err != nil {
		return result, err
	}
	result = e.Record(s.o.Now())
	result.QueryType, result.Nearby, result.ClientIP = req.kind(), nearby, req.ClientIP
	result.Domain = wire.CanonicalService(req.Domain)
	if q.Subnet {
		result.ClientSubnet = subnet.String()
	} else if subnet.IsValid() {
		result.ECSScope = 0 // the option is switched off, or of length 0
	}
	return result, nil
}

// routingTest is api.RoutingTestRequest whose place may lack a coordinate.
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

// kind returns the record type of the query, in capitals.
func (r *routingTest) kind() string { return strings.ToUpper(cmp.Or(r.QueryType, "A")) }

// query returns the query without its client subnet, and the subnet; it is not valid if there is none.
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
	if q.Type = zone.ProbedType(r.kind()); q.Type == 0 {
		return q, subnet, badRequest("query_type is %.64q: it must be A, AAAA, HTTPS or SRV, the types that are "+
			"steered",
			r.QueryType)
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
		list.Answers = append(list.Answers, given[i].Record())
	}
	list.Total, list.Generation = len(list.Answers), given[0].Decision.Basis.Generation
	return ok(list), nil
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

// replacePlace replaces the place of a request by a client: it sets ClientIP to an address that the geolocation
// database has near the place, and returns that address's place; nil for a request without a place.
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
	near, ok := s.o.Places().Near(geo.Position{Latitude: *place.Latitude, Longitude: *place.Longitude})
	if !ok {
		return nil, badRequest("place needs a geolocation database with positions, such as GeoLite2-City, in " +
			"overwatch.geolocation.database_path of this node: give client_ip instead")
	}
	r.ClientIP = near.Network.Addr().String()
	return &api.RoutingNearby{Place: api.Place{Latitude: near.Position.Latitude, Longitude: near.Position.Longitude},
		Network: near.Network.String(), Kilometres: math.Round(near.Kilometres)}, nil
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
	if a := policy.Named(c.Param("id")); a != nil {
		return ok(api.RoutingAlgorithmDetail{Algorithm: algorithmView(a)}), nil
	}
	return answer{}, notFound("there is no routing algorithm %.64q: there are %s", c.Param("id"),
		strings.Join(policy.Names(policy.Algorithms()), ", "))
}
