package geo

import (
	"math"
	"net/netip"

	"gslb.internal/overwatch/internal/policy"
)

// samples holds one network for each degree of latitude and longitude in the database, at most 64 800.
type samples map[[2]int]sample

// sample is a network and its position.
type sample struct {
	network netip.Prefix
	at      Position
}

// addSample adds the network if its degree has no sample.
func (s samples) addSample(network netip.Prefix, at *Position) {
	if at == nil {
		return
	}
	degree := [2]int{int(math.Floor(at.Latitude)), int(math.Floor(at.Longitude))}
	if _, known := s[degree]; !known {
		s[degree] = sample{canonical(network), *at}
	}
}

// NearbyNetwork is a network in the database near a position.
type NearbyNetwork struct {
	Network    netip.Prefix
	Position   Position
	Kilometres float64 // distance from the position
}

// FindNearby returns a network that represents the clients at a position: the nearest sample. ok is false if the table
// has no database or the database has no positions.
func (t *Table) FindNearby(record Position) (nearest NearbyNetwork, ok bool) {
	if t.sources.Database == nil {
		return nearest, false
	}
	for _, s := range t.sources.Database.samples {
		away := policy.Distance(policy.Coordinates(record), policy.Coordinates(s.at))
		if !ok || away < nearest.Kilometres || away == nearest.Kilometres && s.network.Addr().Less(nearest.Network.Addr()) {
			nearest, ok = NearbyNetwork{s.network, s.at, away}, true
		}
	}
	return nearest, ok
}
