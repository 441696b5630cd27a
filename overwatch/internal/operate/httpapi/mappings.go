package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// listGeoMappings answers GET /geo/mappings with the mappings of the configuration in their order, followed by the
// mappings of the API by network.
func (s *Server) listGeoMappings(c *call) (answer, error) {
	set, file := s.o.Definitions.Defined()
	var all []api.GeoMapping
	for _, m := range file.Overwatch.Geolocation.CustomMappings {
		m.CIDR = model.Network(m.CIDR)
		all = append(all, api.GeoMapping{Mapping: m, Source: api.GeoFromConfig})
	}
	for _, m := range set.SortedMappings() {
		all = append(all, mappingView(m))
	}
	all = slices.DeleteFunc(all, func(m api.GeoMapping) bool { return !c.sees(m.Scoped()) })
	list := api.GeoMappingList{GeneratedAt: stamp(s.o.Now())}
	list.Mappings, list.Total = pageOf(slices.Values(all), c.page, func(m api.GeoMapping) api.GeoMapping { return m })
	return ok(list), nil
}

// mappingView returns the API view of a mapping of the API.
func mappingView(m *model.Mapping) api.GeoMapping {
	return api.GeoMapping{Mapping: *m, Source: api.GeoFromAPI, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}
}

// putGeoMapping answers PUT and PATCH /geo/mappings. PUT creates or replaces a mapping. PATCH changes only the fields
// in the body.
func (s *Server) putGeoMapping(c *call, req api.GeoMappingChange) (answer, error) {
	after, created, err := s.op.PutMapping(c.request(), req)
	if err != nil {
		return answer{}, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return tagged(c, status, mappingView(after), *after), nil
}

// deleteGeoMapping answers DELETE /geo/mappings/{cidr}. The slash of the network can be escaped.
func (s *Server) deleteGeoMapping(c *call) (answer, error) {
	network, err := objects.ParseNetwork(strings.TrimPrefix(c.Param("cidr"), "/"))
	if err != nil {
		return answer{}, err
	}
	return noContent(), s.op.DeleteMapping(c.request(), network)
}

// getGeoTest answers GET /geo/test with the table that DNS uses.
func (s *Server) getGeoTest(c *call) (answer, error) {
	if c.query["ip"] == "" {
		return answer{}, badRequest("ip is missing: give the address of a client, as in ?ip=203.0.113.7")
	}
	ip, err := netip.ParseAddr(c.query["ip"])
	if err != nil || ip.Zone() != "" {
		return answer{}, badRequest("ip is %.64q: it must be an IP address such as 203.0.113.7", c.query["ip"])
	}
	e, err := s.o.Places().Explain(ip)
	if err != nil {
		return answer{}, fmt.Errorf("looking %s up in the geolocation database: %w", ip, err)
	}
	test := api.GeoTest{
		IP: ip.String(), Region: e.Region, MatchType: string(e.Match), Comment: e.Comment,
		Country: e.Record.Country, Continent: e.Record.Continent, ScopePrefix: int(e.Scope),
	}
	if e.MatchedCIDR.IsValid() {
		test.MatchedCIDR = e.MatchedCIDR.String()
	}
	return ok(test), nil
}
