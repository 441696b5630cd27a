package publish

import (
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// places holds the regions of clients and backends, with the settings of regions that concern all domains.
type places struct {
	clients     []string // names of the clients' regions by geo.RegionID; the first is none
	coordinates map[string]policy.Coordinates
	bias        map[string]int
	pools       map[string]*policy.Algorithm
}

func newPlaces(regions []config.Region) places {
	e := places{
		clients: make([]string, 1, len(regions)+1), coordinates: make(map[string]policy.Coordinates),
		bias: make(map[string]int), pools: make(map[string]*policy.Algorithm),
	}
	for i := range regions {
		r := &regions[i]
		e.clients = append(e.clients, r.Name)
		if r.Latitude != nil && r.Longitude != nil && !r.Disabled() {
			e.coordinates[r.Name] = policy.Coordinates{Latitude: *r.Latitude, Longitude: *r.Longitude}
		}
		if r.ProximityBias != 0 {
			e.bias[r.Name] = r.ProximityBias
		}
		if r.RoutingAlgorithm != "" {
			e.pools[r.Name] = policy.Named(r.RoutingAlgorithm)
		}
	}
	return e
}

// same reports whether nothing differs.
func (e *places) same(other *places) bool { return e.near(other) && maps.Equal(e.pools, other.pools) }

// near reports whether distances are the same.
func (e *places) near(other *places) bool {
	return slices.Equal(e.clients, other.clients) && maps.Equal(e.coordinates, other.coordinates) &&
		maps.Equal(e.bias, other.bias)
}

// positions holds the spots of clients, for domains that decide by position.
type positions struct {
	places places
	spots  *geo.Spots    // nil: nowhere
	atlas  *policy.Atlas // of the spots
}

// newPositions returns before if nothing differs, since an atlas keeps results that take long to compute.
func newPositions(before *positions, e places, table *geo.Table) *positions {
	p := &positions{places: e}
	if table != nil {
		p.spots = table.Spots()
	}
	if before != nil && before.spots == p.spots && before.places.near(&e) {
		return before
	}
	if p.spots != nil {
		p.atlas = policy.NewAtlas(e.at(p.spots.List()))
	}
	return p
}

// at returns spots with the names of their regions.
func (e *places) at(spots []geo.Spot) []policy.Spot {
	out := make([]policy.Spot, len(spots))
	for i, spot := range spots {
		out[i].Region = e.clients[spot.Region]
		if spot.Position != nil {
			out[i].Position = (*policy.Coordinates)(spot.Position)
		}
	}
	return out
}
