package policy

import (
	"math"
	"slices"
	"strings"
)

// Proximity is weighted inside the region that is nearest to the client, and those hardly farther away.
var Proximity = &Algorithm{
	Name: "proximity", Title: "Proximity", Kind: "geo",
	Description: "the region that is nearest to the client's position answers, weighted inside it, and those hardly " +
		"farther away share with it",
	Parameters: map[string]string{
		weightKey: weightText, regionsKey: regionsText, withinKey: withinText, instead: insteadText,
		"proximity.tolerance_km":   "how many kilometres farther away than the nearest a region may be and share with it",
		"regions[].proximity_bias": "percent by which a region seems nearer than it is, or with a minus sign farther away",
	},
	NeedsRegion: true, NeedsPosition: true,
	WhyRegion:    "%s is the nearest that can answer, or nearest with its bias",
	hasData:      positionsKnown,
	chooseRegion: nearestToPosition,
}

// positionsKnown reports whether the positions of the client and of a region with candidates are known.
func positionsKnown(s *selection) bool {
	return s.rules.Position != nil && slices.ContainsFunc(s.in, func(i int) bool {
		_, known := s.rules.Coordinates[s.candidates[i].Region]
		return known
	})
}

// nearestToPosition chooses the nearest region and those that share with it. Without positions it is geolocation.
func nearestToPosition(s *selection) regionChoice {
	if !positionsKnown(s) {
		return nearestToRegion(s)
	}
	at := distances{from: *s.rules.Position, rules: s.rules}
	nearest, band := at.band(s.regions())
	expected, _ := at.band(s.expected())
	return regionChoice{region: nearest, shared: band, reason: Farther, over: nearest != expected}
}

// MaxBias bounds a region's bias.
const MaxBias = 99

// biased returns the distance, in kilometres, at which a region seems to be with its bias. The formula is that of
// Amazon Route 53's geoproximity routing: a positive bias takes that percentage off the distance, a negative one adds
// as much as it would take for a positive one to undo it.
func biased(kilometres float32, bias int) float32 {
	part := float32(bias) / 100
	if bias >= 0 {
		return kilometres * (1 - part)
	}
	return kilometres / (1 + part)
}

// unknownDistance stands for the distance of a region without coordinates.
var unknownDistance = float32(math.Inf(1))

// distances measures from a client to regions.
type distances struct {
	from  Coordinates
	rules *Rules
}

func (d *distances) to(region string) float32 {
	to, known := d.rules.Coordinates[region]
	if !known {
		return unknownDistance
	}
	return biased(float32(Distance(d.from, to)), d.rules.Bias[region])
}

// band returns the nearest of the regions, and all that are within the tolerance of it, in the given order. There must
// be at least one region.
func (d *distances) band(regions []string) (nearest string, band []string) {
	far := make([]float32, len(regions))
	for i, region := range regions {
		far[i] = d.to(region)
	}
	at := bandOf(far, float32(d.rules.Parameters().ToleranceKm), nil)
	for _, i := range at[1:] {
		band = append(band, regions[i])
	}
	return regions[at[0]], band
}

// bandOf appends to room the index of the lowest distance, the first of several, and then those of all within the
// tolerance of it, itself included. Of regions that are all at an unknown distance, the first is alone.
func bandOf(far []float32, tolerance float32, room []int) []int {
	nearest := 0
	for i := range far {
		if far[i] < far[nearest] {
			nearest = i
		}
	}
	room = append(room, nearest)
	if far[nearest] == unknownDistance {
		return append(room, nearest)
	}
	for i := range far {
		if far[i] <= far[nearest]+tolerance {
			room = append(room, i)
		}
	}
	return room
}

// groupOf returns the Decision.Group for a region and those that share with it.
func groupOf(algorithm *Algorithm, region string, band []string) string {
	if len(band) <= 1 {
		return algorithm.Name + " " + region
	}
	return algorithm.Name + " " + region + " of " + strings.Join(slices.Sorted(slices.Values(band)), ",")
}
