package policy

import (
	"math"
	"slices"
	"strings"
)

// MaxBias bounds a region's bias.
const MaxBias = 99

// biased is how far away a region seems that is so many kilometres away. The formula is that of Amazon Route 53's
// geoproximity routing: a positive bias takes that percentage off the distance, a negative one adds as much as it would
// take for a positive one to undo it.
func biased(kilometres float32, bias int) float32 {
	part := float32(bias) / 100
	if bias >= 0 {
		return kilometres * (1 - part)
	}
	return kilometres / (1 + part)
}

// unknownDistance is that of a region without coordinates.
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
	return biased(float32(distance(d.from, to)), d.rules.Bias[region])
}

// band is proximity: the nearest of the regions, of which there must be one, and all that are within the tolerance of it,
// in the order in which they came.
func (d *distances) band(regions []string) (nearest string, band []string) {
	far := make([]float32, len(regions))
	for i, region := range regions {
		far[i] = d.to(region)
	}
	at := bandOf(far, float32(d.rules.Tolerance), nil)
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

// groupOf names the backends in a region and those that share with it.
func groupOf(algorithm Algorithm, region string, band []string) string {
	if len(band) <= 1 {
		return string(algorithm) + " " + region
	}
	return string(algorithm) + " " + region + " of " + strings.Join(slices.Sorted(slices.Values(band)), ",")
}
