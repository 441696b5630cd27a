package publish

import (
	"gslb.internal/overwatch/internal/config"
	"gslb.internal/overwatch/internal/policy"
)

// earth is where clients and backends can be, the same for all domains.
type earth struct {
	clients     []string // names of the clients' regions by geo.RegionID; the first is none
	coordinates map[string]policy.Coordinates
}

func newEarth(regions []config.Region) earth {
	e := earth{clients: make([]string, 1, len(regions)+1), coordinates: make(map[string]policy.Coordinates)}
	for i := range regions {
		r := &regions[i]
		e.clients = append(e.clients, r.Name)
		if r.Latitude != nil && r.Longitude != nil {
			e.coordinates[r.Name] = policy.Coordinates{Latitude: *r.Latitude, Longitude: *r.Longitude}
		}
	}
	return e
}
