package policy

import (
	"math"
	"slices"
)

// Geolocation selects the client's region, or the nearest region with serving backends, weighted within the region.
var Geolocation = &Algorithm{
	Name: "geolocation", Title: "Geolocation", Kind: "geo",
	Description: "the client's region answers, weighted within the region; otherwise the nearest region with " +
		"serving backends",
	Parameters: map[string]string{
		weightKey: weightText, regionsKey: regionsText, withinKey: withinText, fallbackKey: fallbackText,
		failbackKey: failbackText,
	},
	NeedsRegion:  true,
	hasData:      func(s *selection) bool { return s.rules.Client != "" },
	chooseRegion: nearestToRegion,
}

// nearestToRegion selects among the regions with candidates: the client's region; otherwise the nearest region with
// known coordinates; otherwise the first region in the order of the rules. Other regions follow in alphabetical order.
func nearestToRegion(s *selection) regionChoice {
	from, placed := s.rules.Coordinates[s.rules.Client]
	best := rank{}
	for n, i := range s.remaining {
		region := s.candidates[i].Region
		if region == s.rules.Client {
			return regionChoice{region: region, reason: OtherRegion}
		}
		if n > 0 && region == best.name {
			continue
		}
		key := rank{distance: math.Inf(1), place: slices.Index(s.rules.Regions, region), name: region}
		if to, known := s.rules.Coordinates[region]; placed && known {
			key.distance = Distance(from, to)
		}
		if key.place < 0 {
			key.place = len(s.rules.Regions)
		}
		if n == 0 || key.before(best) {
			best = key
		}
	}
	return regionChoice{region: best.name, reason: OtherRegion, failover: s.hasBackends(s.rules.Client)}
}

// rank orders regions for a client outside of them.
type rank struct {
	distance float64 // infinite if unknown
	place    int     // index in the order of the rules
	name     string
}

// before reports whether r has priority over other.
func (r rank) before(other rank) bool {
	switch {
	case r.distance != other.distance:
		return r.distance < other.distance
	case r.place != other.place:
		return r.place < other.place
	}
	return r.name < other.name
}
