package policy

import "math"

// Coordinates is a geographic position.
type Coordinates struct {
	Latitude, Longitude float64 // degrees
}

// earthRadius is the mean radius of the earth in kilometers.
const earthRadius = 6371

// Distance returns the great-circle distance of two positions in kilometers (haversine formula).
func Distance(a, b Coordinates) float64 {
	const radian = math.Pi / 180
	sinLatitude := math.Sin((b.Latitude - a.Latitude) * radian / 2)
	sinLongitude := math.Sin((b.Longitude - a.Longitude) * radian / 2)
	h := sinLatitude*sinLatitude + math.Cos(a.Latitude*radian)*math.Cos(b.Latitude*radian)*sinLongitude*sinLongitude
	return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1)))
}
