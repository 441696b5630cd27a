package policy

import (
	"math"
	"slices"
	"strings"
)

// Proximity selects the region nearest to the client and the regions within the tolerance, weighted within each region.
var Proximity = &Algorithm{
	Name: "proximity", Title: "Proximity", Kind: "geo",
	Description: "the region nearest to the client's position answers, weighted within the region; regions within " +
		"the tolerance share the answers",
	Parameters: map[string]string{
		weightKey: weightText, regionsKey: regionsText, withinKey: withinText, fallbackKey: fallbackText,
		failbackKey:                failbackText,
		"proximity.tolerance_km":   "kilometers by which a region may be farther than the nearest region and share",
		"regions[].proximity_bias": "percent by which a region appears nearer (positive) or farther (negative)",
	},
	NeedsRegion: true, NeedsPosition: true,
	RegionExplanation: "%s is the nearest region with serving backends, including the bias",
	hasData:           positionsKnown,
	chooseRegion:      nearestToPosition,
}

// positionsKnown reports whether the positions of the client and of a region with candidates are known.
func positionsKnown(s *selection) bool {
	return s.rules.Position != nil && slices.ContainsFunc(s.remaining, func(i int) bool {
		_, known := s.rules.Coordinates[s.candidates[i].Region]
		return known
	})
}

// nearestToPosition selects the nearest region and the regions within the tolerance. Without positions, it uses
// nearestToRegion.
func nearestToPosition(s *selection) regionChoice {
	if !positionsKnown(s) {
		return nearestToRegion(s)
	}
	at := distances{from: *s.rules.Position, rules: s.rules}
	nearest, band := at.nearestBand(s.remainingRegions())
	expected, _ := at.nearestBand(s.expectedRegions())
	return regionChoice{region: nearest, shared: band, reason: Farther, failover: nearest != expected}
}

// MaxBias is the maximum absolute value of a region's bias.
const MaxBias = 99

// applyBias returns the biased distance of a region in kilometers, according to the formula of Amazon Route 53
// geoproximity routing: a positive bias reduces the distance by this percentage; a negative bias is the inverse of the
// positive bias.
func applyBias(kilometres float32, bias int) float32 {
	part := float32(bias) / 100
	if bias >= 0 {
		return kilometres * (1 - part)
	}
	return kilometres / (1 + part)
}

// unknownDistance is the distance of a region without coordinates.
var unknownDistance = float32(math.Inf(1))

// distances computes distances from a client to regions.
type distances struct {
	from  Coordinates
	rules *Rules
}

// distanceTo returns the biased distance to a region in kilometers; unknownDistance without coordinates.
func (d *distances) distanceTo(region string) float32 {
	to, known := d.rules.Coordinates[region]
	if !known {
		return unknownDistance
	}
	return applyBias(float32(Distance(d.from, to)), d.rules.Bias[region])
}

// nearestBand returns the nearest region, and all regions within the tolerance in the given order. regions must not be
// empty.
func (d *distances) nearestBand(regions []string) (nearest string, nearestBand []string) {
	far := make([]float32, len(regions))
	for i, region := range regions {
		far[i] = d.distanceTo(region)
	}
	at := findBand(far, float32(d.rules.Parameters().ToleranceKm), nil)
	for _, i := range at[1:] {
		nearestBand = append(nearestBand, regions[i])
	}
	return regions[at[0]], nearestBand
}

// findBand appends the index of the lowest distance, followed by the indexes of all distances within the tolerance,
// including the lowest. If all distances are unknown, the band contains only the first region.
func findBand(far []float32, tolerance float32, room []int) []int {
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

// groupName returns the Decision.Group for a region and the regions that share with it.
func groupName(algorithm *Algorithm, region string, band []string) string {
	if len(band) <= 1 {
		return algorithm.Name + " " + region
	}
	return algorithm.Name + " " + region + " of " + strings.Join(slices.Sorted(slices.Values(band)), ",")
}
