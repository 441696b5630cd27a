package policy

import (
	"slices"

	"gslb.internal/shared/model"
)

// hasGeofence reports whether clients of the listed regions are answered from their own region only.
func (r *Rules) hasGeofence() bool {
	return r.Domain != nil && r.Domain.Geofence == model.GeofenceStrict
}

// isFenced reports whether only backends of a region may answer the clients of the region.
func (r *Rules) isFenced(region string) bool {
	return r.hasGeofence() && slices.Contains(r.Regions, region)
}

// fence returns the region whose backends alone may answer the client; "" if the backends of all regions may.
func (r *Rules) fence() string {
	if r.isFenced(r.Client) {
		return r.Client
	}
	return ""
}

// filterGeofence excludes the candidates that the geofence forbids for the client.
func (s *selection) filterGeofence() {
	if s.fence != "" {
		s.filter(OutsideGeofence, func(c *Candidate) bool { return c.Region == s.fence })
	}
}

// isOutsideFence reports whether the geofence forbids a candidate for the client.
func (s *selection) isOutsideFence(c *Candidate) bool { return s.fence != "" && c.Region != s.fence }

// geofenceEffect returns the effect of geofence on a decision.
func geofenceEffect(rules *Rules, d *Decision) (e Effect, has bool) {
	if !rules.hasGeofence() {
		return e, false
	}
	e = Effect{"geofence", model.GeofenceStrict, "the client is in none of regions: each region may answer"}
	if d.Fence != "" {
		e.Impact = "only " + d.Fence + " may answer its clients, even with the fallback answer"
	}
	return e, true
}
