package httpapi

import (
	"math"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/shared/api"
)

// replacePlace replaces the place of a request by a client: it sets ClientIP to an address that the geolocation
// database has near the place, and returns that address's place; nil for a request without a place.
func (s *Server) replacePlace(r *routingTest) (*api.RoutingNearby, error) {
	place := r.Place
	if place == nil {
		return nil, nil
	}
	if r.ClientIP != "" {
		return nil, badRequest("client_ip and place are both given: give one of them")
	}
	if place.Latitude == nil || math.Abs(*place.Latitude) > 90 {
		return nil, badRequest("place.latitude must be a number of degrees from -90 to 90, such as 50.1")
	}
	if place.Longitude == nil || math.Abs(*place.Longitude) > 180 {
		return nil, badRequest("place.longitude must be a number of degrees from -180 to 180, such as 8.7")
	}
	near, ok := s.o.Places().Near(geo.Position{Latitude: *place.Latitude, Longitude: *place.Longitude})
	if !ok {
		return nil, badRequest("place needs a geolocation database with positions, such as GeoLite2-City, in " +
			"overwatch.geolocation.database_path of this node: give client_ip instead")
	}
	r.ClientIP = near.Network.Addr().String()
	return &api.RoutingNearby{Place: api.Place{Latitude: near.Position.Latitude, Longitude: near.Position.Longitude},
		Network: near.Network.String(), Kilometres: math.Round(near.Kilometres)}, nil
}
