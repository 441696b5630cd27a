// Package restore converts between the registry and the store: it reads backends, orders and servers of before a
// restart for the registry, and stores the statuses that the registry saves. It owns nothing and starts nothing. The
// root calls it while a node starts. A record that cannot be used is left out and logged; it never keeps the node from
// starting.
package restore

import (
	"fmt"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/validation"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Backends reads the saved backends and the orders, expired ones too. An order that cannot be read is left out, with a
// line in the log.
func Backends(s *store.Store, log zerolog.Logger) ([]registry.Remembered, []registry.Order, error) {
	stored, err := s.LoadStatuses()
	if err != nil {
		return nil, nil, fmt.Errorf("loading the last known status: %w", err)
	}
	remembered := make([]registry.Remembered, len(stored))
	for i, st := range stored {
		remembered[i] = rememberedOf(st)
	}
	kept, err := s.LoadOrders()
	if err != nil {
		return nil, nil, fmt.Errorf("loading orders: %w", err)
	}
	orders := make([]registry.Order, 0, len(kept))
	for _, o := range kept {
		order, err := OrderOf(o)
		if err != nil {
			log.Error().Err(err).Msg("a stored order is left out")
			continue
		}
		orders = append(orders, order)
	}
	return remembered, orders, nil
}

// rememberedOf converts a stored status into the registry's form.
func rememberedOf(st store.Status) registry.Remembered {
	r := registry.Remembered{
		ID:      registry.ID{Service: st.Service, Address: st.Address, Port: st.Port},
		Healthy: st.Healthy, Unknown: st.Unknown, Latency: st.Latency, At: st.At, LastHealthyAt: st.LastHealthyAt,
		CreatedAt: st.CreatedAt,
		AgentID:   st.AgentID, AgentSourced: st.AgentSourced, Weight: st.Weight, Region: st.Region, Check: st.Check,
		HeardAt:         st.HeardAt,
		AgentDrainSince: st.AgentDrainSince, AgentDrainOver: st.AgentDrainOver,
		HeldSince: st.HeldSince, WarningHeldSince: st.WarningHeldSince,
	}
	for kind, b := range st.Bleeds {
		r.Bleeds[kind] = registry.Bleed(b)
	}
	return r
}

// Servers returns the stored servers that can be declared. The others are left out, with a line in the log. A check
// that cannot be made any more, such as one with a pattern that costs too much, loses its pattern or becomes a
// connection.
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

// makeable returns a check that can be made: the given one, or the same without its pattern, or a connection. Missing
// times and thresholds stay missing.
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

// Statuses saves the registry's records into the store. It implements registry.StatusStore.
type Statuses struct{ Store *store.Store }

// SaveStatuses implements registry.StatusStore.
func (s Statuses) SaveStatuses(list []registry.Remembered) error {
	out := make([]store.Status, len(list))
	for i, r := range list {
		out[i] = store.Status{
			Service: r.ID.Service, Address: r.ID.Address, Port: r.ID.Port, Gone: r.Gone,
			Healthy: r.Healthy, Unknown: r.Unknown, Latency: r.Latency, At: r.At, LastHealthyAt: r.LastHealthyAt,
			CreatedAt: r.CreatedAt,
			AgentID:   r.AgentID, AgentSourced: r.AgentSourced, Weight: r.Weight, Region: r.Region, Check: r.Check,
			HeardAt:         r.HeardAt,
			AgentDrainSince: r.AgentDrainSince, AgentDrainOver: r.AgentDrainOver,
			HeldSince: r.HeldSince, WarningHeldSince: r.WarningHeldSince,
		}
		for kind, b := range r.Bleeds {
			out[i].Bleeds[kind] = store.Bleed(b)
		}
	}
	return s.Store.SaveStatuses(out)
}
