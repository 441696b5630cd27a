package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// listRegions answers GET /regions?enabled&continent.
func (s *Server) listRegions(c *call) (answer, error) {
	enabled, continent := c.query["enabled"], c.query["continent"]
	set, file := s.o.Definitions.Defined()
	counts := s.countServers()
	matching := filtered(slices.Values(allRegions(set, file)), func(r store.Region) bool {
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
	r, found := findRegion(set, file, set.RegionNames(file).Of(c.Param("id")))
	if !found {
		return answer{}, unknownRegion(set, c.Param("id"))
	}
	return tagged(c, http.StatusOK, regionView(r, set, file, s.countServers()), r), nil
}

// unknownRegion returns the error for an id that no region has. If it is the name or code of a region, the error names
// the region's id.
func unknownRegion(set *definitions.Set, id string) *problem {
	for _, r := range set.Regions {
		if id == r.Label || id == r.Code {
			return notFound("no region has the id %.100q: did you mean %s?", id, r.Name)
		}
	}
	return notFound("no region %.100q is known", id)
}

// allRegions lists the regions of the configuration in its order, then those of the API by id.
func allRegions(set *definitions.Set, file *config.Config) []store.Region {
	list := make([]store.Region, 0, len(file.Regions)+len(set.Regions))
	for i := range file.Regions {
		list = append(list, configuredRegion(set, file, i))
	}
	own := len(list)
	for _, r := range set.Regions {
		list = append(list, *r)
	}
	slices.SortFunc(list[own:], func(a, b store.Region) int { return strings.Compare(a.Name, b.Name) })
	return list
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

func findRegion(set *definitions.Set, file *config.Config, name string) (store.Region, bool) {
	if r := set.Regions[name]; r != nil {
		return *r, true
	}
	at := regionAt(file, name)
	if at < 0 {
		return store.Region{}, false
	}
	return configuredRegion(set, file, at), true
}

func regionAt(file *config.Config, name string) int {
	return slices.IndexFunc(file.Regions, func(r config.Region) bool { return r.Name == name })
}

// configuredRegion returns a region of the configuration in the form of those of the API.
func configuredRegion(set *definitions.Set, file *config.Config, at int) store.Region {
	r := &file.Regions[at]
	texts := set.OverRegion(file, r.Name)
	return store.Region{
		Label: valueOr(texts.Name, ""), Code: valueOr(texts.Code, ""), Description: valueOr(texts.Description, ""),
		Name: r.Name, Latitude: r.Latitude, Longitude: r.Longitude, Continent: strings.Join(r.Continents, ","),
		Countries: r.Countries, Enabled: !r.Disabled(),
		Pool: r.RoutingAlgorithm, Bias: r.ProximityBias, Priority: r.Priority,
	}
}

// serverCount counts the servers of a region.
type serverCount struct{ all, healthy int }

func (s *Server) countServers() map[string]serverCount {
	counts := map[string]serverCount{}
	for b := range s.o.View.Backends() {
		n := counts[b.Region]
		n.all++
		if healthy(b) {
			n.healthy++
		}
		counts[b.Region] = n
	}
	return counts
}

func regionView(r store.Region, set *definitions.Set, file *config.Config,
	counts map[string]serverCount) api.Region {
	source, overlay := api.FromAPI, (*api.Overlay)(nil)
	if set.Regions[r.Name] == nil {
		source, overlay = api.FromConfig, overlayView(set, file, definitions.OverRegion, r.Name)
	}
	return api.Region{
		ID: r.Name, Name: cmp.Or(r.Label, r.Name), Code: r.Code, Description: r.Description,
		Latitude: r.Latitude, Longitude: r.Longitude, Continent: r.Continent,
		Countries: append([]string{}, r.Countries...), Enabled: r.Enabled, Priority: r.Priority,
		ServerCount: counts[r.Name].all, HealthyServers: counts[r.Name].healthy, Source: source, RoutingAlgorithm: r.Pool,
		ProximityBias: r.Bias, Overlay: overlay,
	}
}
