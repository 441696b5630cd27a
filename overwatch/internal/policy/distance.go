package policy

import (
	"math"
	"slices"
)

// Coordinates are a place on the earth.
type Coordinates struct {
	Latitude, Longitude float64 // degrees
}

// earthRadius is the mean radius of the earth in kilometres.
const earthRadius = 6371

// distance is the way between two places along the great circle, in kilometres (haversine formula).
func distance(a, b Coordinates) float64 {
	const radian = math.Pi / 180
	sinLatitude := math.Sin((b.Latitude - a.Latitude) * radian / 2)
	sinLongitude := math.Sin((b.Longitude - a.Longitude) * radian / 2)
	h := sinLatitude*sinLatitude + math.Cos(a.Latitude*radian)*math.Cos(b.Latitude*radian)*sinLongitude*sinLongitude
	return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1)))
}

// nearestRegion is geolocation: of the regions that have candidates, the client's; else the nearest to it; else, where
// its coordinates or those of all others are not known, the first in the order of the rules. Regions that the rules do not
// list come last, in the order of their names.
func nearestRegion(candidates []Candidate, in []int, rules *Rules) string {
	from, placed := rules.Coordinates[rules.Client]
	best, bestKey := "", rank{}
	for n, i := range in {
		region := candidates[i].Region
		if region == rules.Client {
			return region
		}
		if n > 0 && region == best {
			continue
		}
		key := rank{distance: math.Inf(1), place: slices.Index(rules.Regions, region), name: region}
		if to, known := rules.Coordinates[region]; placed && known {
			key.distance = distance(from, to)
		}
		if key.place < 0 {
			key.place = len(rules.Regions)
		}
		if n == 0 || key.before(bestKey) {
			best, bestKey = region, key
		}
	}
	return best
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
