package restore

import (
	"fmt"
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// Order converts an admin state to the form of the store.
func Order(o registry.AdminState) store.Order {
	return store.Order{
		Kind: o.Kind, Service: o.Service, Address: o.Endpoint(), Healthy: o.Healthy, Weight: o.Weight, Share: o.Share,
		Over: o.Duration, Reason: o.Reason, Source: o.Source, CreatedAt: o.CreatedAt, CreatedBy: o.CreatedBy,
		StartsAt: momentOrNil(o.StartsAt), ExpiresAt: momentOrNil(o.ExpiresAt),
	}
}

func momentOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(api.Moment(t))
}

// OrderOf converts a stored admin state to the form of the registry.
func OrderOf(o store.Order) (registry.AdminState, error) {
	r := registry.AdminState{
		Kind: o.Kind, Service: o.Service, Healthy: o.Healthy, Weight: o.Weight, Share: o.Share, Duration: o.Over,
		Reason: o.Reason, Source: o.Source, CreatedBy: o.CreatedBy, CreatedAt: o.CreatedAt, IsActive: o.Begun,
	}
	if o.StartsAt != nil {
		r.StartsAt = *o.StartsAt
	}
	if o.ExpiresAt != nil {
		r.ExpiresAt = *o.ExpiresAt
	}
	if address, err := netip.ParseAddr(o.Address); err == nil {
		r.Address = address
		return r, nil
	}
	endpoint, err := netip.ParseAddrPort(o.Address)
	if err != nil {
		return r, fmt.Errorf("stored %s of %s: address %q: %w", o.Kind, o.Service, o.Address, err)
	}
	r.Address, r.Port = endpoint.Addr(), endpoint.Port()
	return r, nil
}
