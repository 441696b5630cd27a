// Package restore reads backends, orders and servers of before a restart for the registry, and converts orders between
// the registry and the store. It owns nothing and starts nothing. The root calls it while a node starts. A record that
// cannot be used is left out and logged; it never keeps the node from starting.
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
	"gslb.internal/shared/model"
)

// Backends reads the saved backends and the orders, expired ones too. An order that cannot be read is left out, with a
// line in the log.
func Backends(s *store.Store, log zerolog.Logger) ([]store.Status, []registry.AdminState, error) {
	statuses, err := s.LoadStatuses()
	if err != nil {
		return nil, nil, fmt.Errorf("loading the last known status: %w", err)
	}
	kept, err := s.LoadOrders()
	if err != nil {
		return nil, nil, fmt.Errorf("loading orders: %w", err)
	}
	orders := make([]registry.AdminState, 0, len(kept))
	for _, o := range kept {
		order, err := OrderOf(o)
		if err != nil {
			log.Error().Err(err).Msg("a stored order is left out")
			continue
		}
		orders = append(orders, order)
	}
	return statuses, orders, nil
}

// Servers returns the stored servers that can be declared. The others are left out, with a line in the log. A check
// that cannot be made any more, such as one with a pattern that costs too much, loses its pattern or becomes a
// connection.
func Servers(servers []model.Server, log zerolog.Logger) []model.Server {
	sound := make([]model.Server, 0, len(servers))
	for _, s := range servers {
		id, err := registry.NewID(s.Service, s.Address, s.Port)
		if err != nil || s.Weight < 0 || s.Weight > api.MaxWeight {
			log.Error().Err(err).Str("service", s.Service).Int("weight", s.Weight).Msg("a stored server is left out")
			continue
		}
		spec := s.OwnCheck()
		if made := makeable(spec); made != spec {
			log.Warn().Stringer("server",
				id).Msg("the stored check cannot be made: it is made without its pattern, or as a connection")
			s.Host, s.HealthCheck = "", model.HealthCheckOf(made)
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
		whole := node.WithDefaults(s)
		if len(whole.Validate()) == 0 {
			return s
		}
	}
	return reduce.Connection()
}
