package publish

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// places holds the regions of clients and backends, with the region settings that concern all domains.
type places struct {
	rankings    [][]string        // regions that clients may be in, by geo.RegionID
	names       map[string]string // of regions, by the name and by the name in lower case
	coordinates map[string]policy.Coordinates
	bias        map[string]int
	pools       map[string]*policy.Algorithm
}

// newPlaces returns the places for regions and their location table; with a nil table, clients have no region.
func newPlaces(regions []config.Region, table *geo.Table) places {
	e := places{
		rankings: [][]string{nil}, names: make(map[string]string), coordinates: make(map[string]policy.Coordinates),
		bias: make(map[string]int), pools: make(map[string]*policy.Algorithm),
	}
	if table != nil {
		e.rankings = table.Rankings()
	}
	for i := range regions {
		r := &regions[i]
		e.names[r.Name] = r.Name
		if lower := strings.ToLower(r.Name); e.names[lower] == "" {
			e.names[lower] = r.Name
		}
		if r.Latitude != nil && r.Longitude != nil && r.Enabled {
			e.coordinates[r.Name] = policy.Coordinates{Latitude: *r.Latitude, Longitude: *r.Longitude}
		}
		if r.ProximityBias != 0 {
			e.bias[r.Name] = r.ProximityBias
		}
		if r.RoutingAlgorithm != "" {
			e.pools[r.Name] = policy.FindAlgorithm(r.RoutingAlgorithm)
		}
	}
	return e
}

// region returns the canonical name of a region, or the text for an unknown region.
func (e *places) region(text string) string {
	if name, known := e.names[text]; known {
		return name
	}
	if name, known := e.names[strings.ToLower(text)]; known {
		return name
	}
	return text
}

// same reports whether the settings of regions are the same.
func (e *places) same(other *places) bool { return e.near(other) && maps.Equal(e.pools, other.pools) }

// near reports whether distances are the same.
func (e *places) near(other *places) bool {
	return maps.Equal(e.names, other.names) && maps.Equal(e.coordinates, other.coordinates) &&
		maps.Equal(e.bias, other.bias)
}

// ranked reports whether clients have the same regions by geo.RegionID.
func (e *places) ranked(other *places) bool {
	return slices.EqualFunc(e.rankings, other.rankings, slices.Equal[[]string])
}

// positions holds the regions and locations of clients, for domains that use them. It is safe for concurrent use.
type positions struct {
	places places
	spots  *geo.Locations        // nil: unknown
	atlas  *policy.LocationTable // of the spots

	mu      sync.Mutex
	clients map[string]*clients // by the regions of a domain, with commas between them
}

// clients contains the client regions by geo.RegionID, for domains with equal regions. It is immutable.
type clients struct {
	regions string   // of the domains, sorted, with commas between them
	names   []string // the first is empty: in no region
	first   []int    // index of the first equal name
}

// maxClients is the maximum number of stored sets of regions. At the bound, all are removed; domains retain their sets.
const maxClients = 1024

// clientsAmong returns the clients of domains with these sorted regions; for domains without regions, among all
// regions.
func (p *positions) clientsAmong(regions []string) *clients {
	key := strings.Join(regions, ",")
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.clients[key]; known != nil {
		return known
	}
	if len(p.clients) >= maxClients {
		clear(p.clients)
	}
	c := &clients{regions: key}
	seen := make(map[string]int)
	for i, ranking := range p.places.rankings {
		name := clientRegion(ranking, regions)
		if _, known := seen[name]; !known {
			seen[name] = i
		}
		c.names, c.first = append(c.names, name), append(c.first, seen[name])
	}
	p.clients[key] = c
	return c
}

// clientRegion returns the first region of a ranking that is in the sorted regions; otherwise the first of the ranking,
// from which the policy finds the nearest region; "" for an empty ranking.
func clientRegion(ranking, regions []string) string {
	for _, region := range ranking {
		if _, own := slices.BinarySearch(regions, region); own {
			return region
		}
	}
	if len(ranking) > 0 {
		return ranking[0]
	}
	return ""
}

// newPositions returns before if nothing changed, because a location table caches results that are expensive to
// compute.
func newPositions(before *positions, e places, table *geo.Table) *positions {
	p := &positions{places: e, clients: make(map[string]*clients)}
	if table != nil {
		p.spots = table.Locations()
	}
	if before != nil && before.spots == p.spots && before.places.near(&e) && before.places.ranked(&e) {
		return before
	}
	if p.spots != nil {
		p.atlas = atlasOf(p.spots.List())
	}
	return p
}

// atlasOf returns the location table of client locations.
func atlasOf(spots []geo.Location) *policy.LocationTable {
	positions, rankings := make([]*policy.Coordinates, len(spots)), make([]uint16, len(spots))
	for i, spot := range spots {
		positions[i], rankings[i] = (*policy.Coordinates)(spot.Position), uint16(spot.Region)
	}
	return policy.NewLocationTable(positions, rankings)
}
