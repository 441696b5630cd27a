package publish

import (
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// earth is where clients and backends can be, and what holds in a region for all domains.
type earth struct {
	clients     []string // names of the clients' regions by geo.RegionID; the first is none
	coordinates map[string]policy.Coordinates
	bias        map[string]int
	pools       map[string]*policy.Algorithm
}

func newEarth(regions []config.Region) earth {
	e := earth{
		clients: make([]string, 1, len(regions)+1), coordinates: make(map[string]policy.Coordinates),
		bias: make(map[string]int), pools: make(map[string]*policy.Algorithm),
	}
	for i := range regions {
		r := &regions[i]
		e.clients = append(e.clients, r.Name)
		if r.Latitude != nil && r.Longitude != nil {
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

// positions is where clients are told apart by their positions.
type positions struct {
	earth earth
	spots *geo.Spots    // nil: nowhere
	atlas *policy.Atlas // of the spots
}

// newPositions is before, if nothing differs: what an atlas remembers is dear.
func newPositions(before *positions, e earth, table *geo.Table) *positions {
	p := &positions{earth: e}
	if table != nil {
		p.spots = table.Spots()
	}
	if before != nil && before.spots == p.spots && slices.Equal(before.earth.clients, e.clients) &&
		maps.Equal(before.earth.coordinates, e.coordinates) && maps.Equal(before.earth.bias, e.bias) {
		return before
	}
	if p.spots != nil {
		p.atlas = policy.NewAtlas(e.at(p.spots.List()))
	}
	return p
}

// at names the regions of spots.
func (e *earth) at(spots []geo.Spot) []policy.Spot {
	out := make([]policy.Spot, len(spots))
	for i, spot := range spots {
		out[i].Region = e.clients[spot.Region]
		if spot.Position != nil {
			out[i].Position = (*policy.Coordinates)(spot.Position)
		}
	}
	return out
}
