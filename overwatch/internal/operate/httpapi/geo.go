package httpapi

import (
	"fmt"
	"net/netip"

	"gslb.internal/shared/api"
)

// getGeoTest answers GET /geo/test from the table that DNS uses.
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
		Country: e.Place.Country, Continent: e.Place.Continent, ScopePrefix: int(e.Scope),
	}
	if e.MatchedCIDR.IsValid() {
		test.MatchedCIDR = e.MatchedCIDR.String()
	}
	return ok(test), nil
}
