package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// listRegions answers GET /regions?enabled&continent.
func (s *Server) listRegions(c *call) (answer, error) {
	enabled, continent := c.query["enabled"], c.query["continent"]
	set, file := s.o.Definitions.Defined()
	counts := s.edit.CountServers()
	matching := filtered(slices.Values(objects.AllRegions(set, file)), func(r store.Region) bool {
		return matches(enabled, strconv.FormatBool(r.Enabled)) &&
			(continent == "" || slices.Contains(strings.Split(r.Continent, ","), continent))
	})
	list := api.RegionList{GeneratedAt: stamp(s.o.Now())}
	list.Regions, list.Total = pageOf(matching, c.page,
		func(r store.Region) api.Region { return regionView(r, set, file, counts) })
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

// regionNames returns the ids of the regions, which requests may write in any case.
func (s *Server) regionNames() config.RegionNames {
	set, file := s.o.Definitions.Defined()
	return set.RegionNames(file)
}

// foldRegion replaces a region in a request by its id. nil stays.
func (s *Server) foldRegion(region *string) {
	if region != nil && *region != "" {
		*region = s.regionNames().Of(*region)
	}
}

func regionView(r store.Region, set *definitions.Set, file *config.Config,
	counts map[string]objects.ServerCount) api.Region {
	source, overlay := api.FromAPI, (*api.Overlay)(nil)
	if set.Regions[r.Name] == nil {
		source, overlay = api.FromConfig, objects.OverlayView(set, file, definitions.OverRegion, r.Name)
	}
	return api.Region{
		ID: r.Name, Name: cmp.Or(r.Label, r.Name), Code: r.Code, Description: r.Description,
		Latitude: r.Latitude, Longitude: r.Longitude, Continent: r.Continent,
		Countries: append([]string{}, r.Countries...), Enabled: r.Enabled, Priority: r.Priority,
		ServerCount: counts[r.Name].All, HealthyServers: counts[r.Name].Healthy, Source: source,
		RoutingAlgorithm: r.Pool,
		ProximityBias:    r.Bias, Overlay: overlay,
	}
}
