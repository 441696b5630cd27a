package geo

import (
	"math"
	"net/netip"

	"gslb.internal/overwatch/internal/policy"
)

// samples has a network for each degree of latitude and longitude in which the database has one: 64 800 at most.
type samples map[[2]int]sample

type sample struct {
	network netip.Prefix
	at      Position
}

// add keeps the first network of each degree.
func (s samples) add(network netip.Prefix, at *Position) {
	if at == nil {
		return
	}
	degree := [2]int{int(math.Floor(at.Latitude)), int(math.Floor(at.Longitude))}
	if _, known := s[degree]; !known {
		s[degree] = sample{canonical(network), *at}
	}
}

// Nearby is a network that the database has near a place.
type Nearby struct {
	Network    netip.Prefix
	Position   Position
	Kilometres float64 // from the place
}

// Near returns a network whose clients stand for those at a place: the nearest of one network for each degree of
// latitude and longitude. ok is false without a database, or where it has no positions.
func (t *Table) Near(place Position) (nearest Nearby, ok bool) {
	if t.sources.Database == nil {
		return nearest, false
	}
	for _, s := range t.sources.Database.samples {
		away := policy.Distance(policy.Coordinates(place), policy.Coordinates(s.at))
		if !ok || away < nearest.Kilometres || away == nearest.Kilometres && s.network.Addr().Less(nearest.Network.Addr()) {
			nearest, ok = Nearby{s.network, s.at, away}, true
		}
	}
	return nearest, ok
}
