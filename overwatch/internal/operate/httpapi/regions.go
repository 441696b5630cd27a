package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// listRegions answers GET /regions?enabled&continent.
func (s *Server) listRegions(c *call) (answer, error) {
	enabled, continent := c.query["enabled"], c.query["continent"]
	set, file := s.o.Definitions.Defined()
	counts := s.edit.CountServers()
	matching := filtered(slices.Values(objects.AllRegions(set, file)), func(r model.Region) bool {
		return c.sees(r.Scoped()) && matches(enabled, strconv.FormatBool(r.Enabled)) &&
			(continent == "" || slices.Contains(r.Continents, continent))
	})
	list := api.RegionList{GeneratedAt: stamp(s.o.Now())}
	list.Regions, list.Total = pageOf(matching, c.page,
		func(r model.Region) api.Region { return regionView(r, set, file, counts) })
	return ok(list), nil
}

// getRegion answers GET /regions/{id}.
func (s *Server) getRegion(c *call) (answer, error) {
	set, file := s.o.Definitions.Defined()
	r, found := objects.FindRegion(set, file, set.RegionNames(file).Of(c.Param("id")))
	if !found {
		return answer{}, objects.UnknownRegion(set, c.Param("id"))
	}
	return tagged(c, http.StatusOK, regionView(r, set, file, s.edit.CountServers()), r), nil
}

// regionNames returns the ids of the regions. Requests may use another case.
func (s *Server) regionNames() config.RegionNames {
	set, file := s.o.Definitions.Defined()
	return set.RegionNames(file)
}

// foldRegion replaces a region in a request by its id. It keeps nil.
func (s *Server) foldRegion(region *string) {
	if region != nil && *region != "" {
		*region = s.regionNames().Of(*region)
	}
}

func regionView(r model.Region, set *definitions.Set, file *config.Config,
	counts map[string]objects.ServerCount) api.Region {
	source, overlay := api.FromAPI, (*api.Overlay)(nil)
	if set.Regions[r.Name] == nil {
		source, overlay = api.FromConfig, objects.OverlayView(set, file, definitions.OverRegion, r.Name)
	}
	view := api.Region{ID: r.Name, Name: cmp.Or(r.Label, r.Name), Region: *r.Shown(), Continent: r.Continents.String(),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, ServerCount: counts[r.Name].All,
		HealthyServers: counts[r.Name].Healthy, ServingServers: counts[r.Name].Serving, Source: source, Overlay: overlay}
	view.Countries, view.Continents = append([]string{}, r.Countries...), append([]string{}, r.Continents...)
	return view
}
