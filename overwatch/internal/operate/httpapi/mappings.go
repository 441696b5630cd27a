package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// listGeoMappings answers GET /geo/mappings with the mappings of the configuration in its order, then the mappings of
// the API by network.
func (s *Server) listGeoMappings(c *call) (answer, error) {
	set, file := s.o.Definitions.Defined()
	var all []api.GeoMapping
	for _, m := range file.Overwatch.Geolocation.CustomMappings {
		all = append(all, api.GeoMapping{CIDR: model.Network(m.CIDR).String(), Region: m.Region, Comment: m.Comment,
			Source: api.GeoFromConfig})
	}
	for _, network := range set.Networks() {
		all = append(all, objects.MappingView(set.Mappings[network]))
	}
	list := api.GeoMappingList{GeneratedAt: stamp(s.o.Now())}
	list.Mappings, list.Total = pageOf(slices.Values(all), c.page, func(m api.GeoMapping) api.GeoMapping { return m })
	return ok(list), nil
}

// putGeoMapping answers PUT and PATCH /geo/mappings. PUT creates or replaces a mapping, PATCH changes the fields that
// the body has.
func (s *Server) putGeoMapping(c *call, req api.GeoMappingChange) (answer, error) {
	patch := c.Request.Method == http.MethodPatch
	network, err := objects.ParseNetwork(req.CIDR)
	if err != nil {
		return answer{}, err
	}
	if text := objects.ValueOr(req.Comment, ""); text != "" {
		if err := objects.CheckText("comment", text, api.MaxComment); err != nil {
			return answer{}, err
		}
	}
	s.foldRegion(req.Region)
	var after *store.Mapping
	status := http.StatusOK
	ch := &operations.Change{Resource: "geo_mapping", ID: network.String()}
	err = s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		var named []string
		before, err := objects.OwnMapping(d, network, "changed", c.condition.holds)
		if err != nil {
			return err
		}
		after = &store.Mapping{CIDR: network.String(), Region: objects.ValueOr(req.Region, ""),
			Comment: objects.ValueOr(req.Comment, "")}
		ch.Action, status = "create", http.StatusCreated
		switch {
		case before != nil:
			ch.Action, status, ch.Before = "update", http.StatusOK, objects.MappingRecordOf(before)
			after.Owner, named = before.Owner, []string{before.Region}
			if patch {
				after.Region, after.Comment = objects.ValueOr(req.Region, before.Region), objects.ValueOr(req.Comment,
					before.Comment)
			}
		case patch:
			return notFound("no mapping of %s was created through the API", network)
		case len(d.Now().Mappings) >= definitions.MaxMappings:
			return fault.Fullf("the API has created %d mappings, which is the most",
				definitions.MaxMappings)
		}
		if err := objects.CheckRegions(d, []string{after.Region}, named); err != nil {
			return err
		}
		ch.After = objects.MappingRecordOf(after)
		d.PutMapping(network, after)
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return tagged(c, status, objects.MappingView(after), *after), nil
}

// deleteGeoMapping answers DELETE /geo/mappings/{cidr}. The slash of the network may be escaped.
func (s *Server) deleteGeoMapping(c *call) (answer, error) {
	network, err := objects.ParseNetwork(strings.TrimPrefix(c.Param("cidr"), "/"))
	if err != nil {
		return answer{}, err
	}
	ch := &operations.Change{Action: "delete", Resource: "geo_mapping", ID: network.String()}
	return noContent(), s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		before, err := objects.OwnMapping(d, network, "deleted", c.condition.holds)
		switch {
		case err != nil:
			return err
		case before == nil:
			return notFound("no mapping of %s was created through the API", network)
		}
		ch.Before = objects.MappingRecordOf(before)
		d.DeleteMapping(network)
		return nil
	})
}

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
		Country: e.Record.Country, Continent: e.Record.Continent, ScopePrefix: int(e.Scope),
	}
	if e.MatchedCIDR.IsValid() {
		test.MatchedCIDR = e.MatchedCIDR.String()
	}
	return ok(test), nil
}
