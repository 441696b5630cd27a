package overwatch

import (
	"fmt"
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/overwatch/internal/store"
)

// restore reads what the registry knew before the restart.
func restore(s *store.Store) ([]registry.Remembered, []registry.Override, error) {
	stored, err := s.LoadStatuses()
	if err != nil {
		return nil, nil, fmt.Errorf("loading the last known status: %w", err)
	}
	remembered := make([]registry.Remembered, len(stored))
	for i, st := range stored {
		remembered[i] = registry.Remembered{
			ID:      registry.ID{Service: st.Service, Address: st.Address, Port: st.Port},
			Healthy: st.Healthy, Latency: st.Latency, At: st.At, LastHealthyAt: st.LastHealthyAt,
			AgentID: st.AgentID, AgentSourced: st.AgentSourced, Weight: st.Weight, Region: st.Region, Check: st.Check,
			DrainSince: st.DrainSince, DrainOver: st.DrainOver,
		}
	}
	orders, err := s.LoadOverrides()
	if err != nil {
		return nil, nil, fmt.Errorf("loading overrides: %w", err)
	}
	overrides := make([]registry.Override, 0, len(orders))
	for _, o := range orders {
		if o.ExpiresAt != nil && !o.ExpiresAt.After(time.Now()) {
			if err := s.DeleteOverride(o.Service, o.Address); err != nil {
				return nil, nil, fmt.Errorf("deleting an expired override: %w", err)
			}
			continue
		}
		order, err := override(o)
		if err != nil {
			return nil, nil, err
		}
		overrides = append(overrides, order)
	}
	return remembered, overrides, nil
}

// override is a stored override as the registry takes it.
func override(o store.Override) (registry.Override, error) {
	r := registry.Override{
		Service: o.Service, Healthy: o.Healthy, Reason: o.Reason, Source: o.Source, CreatedBy: o.CreatedBy, CreatedAt: o.CreatedAt,
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
		return r, fmt.Errorf("stored override of %s: address %q: %w", o.Service, o.Address, err)
	}
	r.Address, r.Port = endpoint.Addr(), endpoint.Port()
	return r, nil
}

// statuses lets the registry save into the store.
type statuses struct{ store *store.Store }

// SaveStatuses implements registry.StatusStore.
func (s statuses) SaveStatuses(list []registry.Remembered) error {
	out := make([]store.Status, len(list))
	for i, r := range list {
		out[i] = store.Status{
			Service: r.ID.Service, Address: r.ID.Address, Port: r.ID.Port, Gone: r.Gone,
			Healthy: r.Healthy, Latency: r.Latency, At: r.At, LastHealthyAt: r.LastHealthyAt,
			AgentID: r.AgentID, AgentSourced: r.AgentSourced, Weight: r.Weight, Region: r.Region, Check: r.Check,
			DrainSince: r.DrainSince, DrainOver: r.DrainOver,
		}
	}
	return s.store.SaveStatuses(out)
}
