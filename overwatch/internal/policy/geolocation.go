package policy

import (
	"math"
	"slices"
)

// Geolocation is weighted inside the client's region, or else inside the nearest one that serves.
var Geolocation = &Algorithm{
	Name: "geolocation", Title: "Geolocation", Kind: "geo",
	Description: "the client's region answers, weighted inside it; else the nearest one that can",
	Parameters: map[string]string{
		weightKey: weightText, regionsKey: regionsText, withinKey: withinText, instead: insteadText,
	},
	NeedsRegion:  true,
	hasData:      func(s *selection) bool { return s.rules.Client != "" },
	chooseRegion: nearestToRegion,
}

// nearestToRegion chooses, of the regions that have candidates, the client's; else the nearest to it; else, where its
// coordinates or those of all others are not known, the first in the order of the rules. Regions that the rules do not
// list come last, in the order of their names.
func nearestToRegion(s *selection) regionChoice {
	from, placed := s.rules.Coordinates[s.rules.Client]
	best := rank{}
	for n, i := range s.in {
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
	return regionChoice{region: best.name, reason: OtherRegion, over: s.expects(s.rules.Client)}
}

// rank orders regions for a client who is in none of them.
type rank struct {
	distance float64 // infinite where it is not known
	place    int     // in the order of the rules
	name     string
}

func (r rank) before(other rank) bool {
	switch {
	case r.distance != other.distance:
		return r.distance < other.distance
	case r.place != other.place:
		return r.place < other.place
	}
	return r.name < other.name
}
