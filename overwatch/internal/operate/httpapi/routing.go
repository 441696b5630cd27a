package httpapi

import (
	"cmp"
	"errors"
	"net/netip"
	"strings"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/strictjson"
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
	result = s.explanation(&e)
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

// explanation converts an explanation into the API's form.
func (s *Server) explanation(e *explain.Explanation) api.RoutingResult {
	r := api.RoutingResult{
		Domain: wire.CanonicalService(e.Name), QueryType: e.Family.QueryType(), ClientRegion: e.Region,
		LocatedBy:    locatedBy(e),
		Alternatives: []api.RoutingBackend{}, Excluded: []api.RoutingExcluded{}, Factors: []api.RoutingFactor{},
		WouldBe:  []api.RoutingWouldBe{},
		Decision: api.RoutingDecisionKind(e.Outcome), Answer: append([]string{}, e.Records...), ECSScope: int(e.Scope),
		TTL:        int(e.TTL),
		TimeMicros: float64(e.Took.Nanoseconds()) / 1000, Timestamp: stamp(s.o.Now()),
	}
	if e.Place != nil {
		r.ClientCountry = e.Place.Place.Country
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
			view := routingBackend(e, b)
			r.SelectedBackend = &view
		default:
			r.Alternatives = append(r.Alternatives, routingBackend(e, b))
		}
	}
	for _, f := range e.Factors() {
		r.Factors = append(r.Factors, api.RoutingFactor{Name: f.Name, Type: string(f.Type), Value: f.Value,
			Impact: f.Impact})
	}
	for _, w := range e.WouldBe {
		r.WouldBe = append(r.WouldBe, wouldBe(w))
	}
	return r
}

func routingBackend(e *explain.Explanation, b *explain.Backend) api.RoutingBackend {
	return api.RoutingBackend{
		Address: b.Address.String(), Port: int(b.Port), Region: b.Region, Weight: b.Weight,
		Priority: priority(e.Basis.Rules.Regions, b.Region), Healthy: b.MayServe, Share: b.Share,
	}
}

func wouldBe(w explain.WouldBe) api.RoutingWouldBe {
	out := api.RoutingWouldBe{IfUp: "all", Decision: api.RoutingDecisionKind(w.Decision.Outcome),
		Region: w.Decision.Region, Answers: []api.RoutingShare{}}
	if w.If != nil {
		out.IfUp = explain.Endpoint(w.If)
	}
	for _, due := range w.Decision.Due {
		out.Answers = append(out.Answers, api.RoutingShare{Address: due.Name(),
			Share: explain.Share(w.Decision.Due, due)})
	}
	return out
}

// locatedBy names the source of the client's place.
func locatedBy(e *explain.Explanation) string {
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
