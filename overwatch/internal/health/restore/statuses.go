// Package restore gives the registry what the store has of before a restart, and stores what the registry saves. It
// owns nothing. The root calls it while a node starts; a record that cannot be used is left out and logged, never a
// reason not to start.
package restore

import (
	"fmt"
	"net/netip"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/validation"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Backends reads what the registry knew before the restart, and the overrides, expired ones too. An override that
// cannot be read is left out, with a line in the log.
func Backends(s *store.Store, log zerolog.Logger) ([]registry.Remembered, []registry.Override, error) {
	stored, err := s.LoadStatuses()
	if err != nil {
		return nil, nil, fmt.Errorf("loading the last known status: %w", err)
	}
	remembered := make([]registry.Remembered, len(stored))
	for i, st := range stored {
		remembered[i] = rememberedOf(st)
	}
	orders, err := s.LoadOverrides()
	if err != nil {
		return nil, nil, fmt.Errorf("loading overrides: %w", err)
	}
	overrides := make([]registry.Override, 0, len(orders))
	for _, o := range orders {
		order, err := override(o)
		if err != nil {
			log.Error().Err(err).Msg("a stored override is left out")
			continue
		}
		overrides = append(overrides, order)
	}
	return remembered, overrides, nil
}

// rememberedOf returns a stored status as the registry takes it.
func rememberedOf(st store.Status) registry.Remembered {
	r := registry.Remembered{
		ID:      registry.ID{Service: st.Service, Address: st.Address, Port: st.Port},
		Healthy: st.Healthy, Unknown: st.Unknown, Latency: st.Latency, At: st.At, LastHealthyAt: st.LastHealthyAt,
		AgentID: st.AgentID, AgentSourced: st.AgentSourced, Weight: st.Weight, Region: st.Region, Check: st.Check,
		HeardAt:    st.HeardAt,
		DrainSince: st.DrainSince, DrainOver: st.DrainOver, AgentDrainSince: st.AgentDrainSince,
		AgentDrainOver: st.AgentDrainOver,
	}
	for kind, b := range st.Bleeds {
		r.Bleeds[kind] = registry.Bleed(b)
	}
	return r
}

// Servers returns the stored servers that can be declared. The others are left out, with a line in the log. A check
// that is refused by now, as one with a pattern that costs too much, keeps what is not; else it becomes a connection.
func Servers(servers []store.Server, log zerolog.Logger) []store.Server {
	sound := make([]store.Server, 0, len(servers))
	for _, s := range servers {
		id, err := registry.NewID(s.Service, s.Address, s.Port)
		if err != nil || s.Weight < 0 || s.Weight > api.MaxWeight {
			log.Error().Err(err).Str("service", s.Service).Int("weight", s.Weight).Msg("a stored server is left out")
			continue
		}
		if made := makeable(s.Check); made != s.Check {
			log.Warn().Stringer("server",
				id).Msg("the stored check cannot be made: it is made without its pattern, or as a connection")
			s.Check = made
		}
		sound = append(sound, s)
	}
	return sound
}

// makeable returns a check that can be made: the given one, or as much of it as can be. Times and thresholds that it
// has not are the node's.
func makeable(spec check.Spec) check.Spec {
	plain := spec.Detail.Detail()
	plain.BodyMatches = ""
	without := spec
	without.Detail = plain.Details()
	node := validation.Settings{Interval: check.DefaultInterval, Timeout: check.DefaultTimeout,
		FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold}
	for _, s := range []check.Spec{spec, without} {
		whole := node.Given(s)
		if len(whole.Validate()) == 0 {
			return s
		}
	}
	return reduce.Connection()
}

// override returns a stored override as the registry takes it.
func override(o store.Override) (registry.Override, error) {
	r := registry.Override{
		Service: o.Service, Healthy: o.Healthy, Reason: o.Reason, Source: o.Source, CreatedBy: o.CreatedBy,
		CreatedAt: o.CreatedAt,
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

// Statuses saves what the registry knows into the store. It implements registry.StatusStore.
type Statuses struct{ Store *store.Store }

// SaveStatuses implements registry.StatusStore.
func (s Statuses) SaveStatuses(list []registry.Remembered) error {
	out := make([]store.Status, len(list))
	for i, r := range list {
		out[i] = store.Status{
			Service: r.ID.Service, Address: r.ID.Address, Port: r.ID.Port, Gone: r.Gone,
			Healthy: r.Healthy, Unknown: r.Unknown, Latency: r.Latency, At: r.At, LastHealthyAt: r.LastHealthyAt,
			AgentID: r.AgentID, AgentSourced: r.AgentSourced, Weight: r.Weight, Region: r.Region, Check: r.Check,
			HeardAt:    r.HeardAt,
			DrainSince: r.DrainSince, DrainOver: r.DrainOver, AgentDrainSince: r.AgentDrainSince,
			AgentDrainOver: r.AgentDrainOver,
		}
		for kind, b := range r.Bleeds {
			out[i].Bleeds[kind] = store.Bleed(b)
		}
	}
	return s.Store.SaveStatuses(out)
}
