// Package restore loads the stored backends, admin states and servers for the registry at the start of a node. It
// converts admin states between the registry and the store. It skips and logs unusable records, so that the node always
// starts. The package has no state and starts no goroutine. The root calls it.
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

// Backends loads the stored backends and the admin states, including expired admin states. It skips and logs admin
// states that it cannot read.
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

// Servers returns the stored servers that the registry accepts. It skips and logs the others. If this version rejects
// the check of a server, for example because of an expensive pattern, Servers removes the pattern or reduces the check
// to a connection.
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

// makeable returns spec if it is valid, or else spec without its pattern if the result is valid, or else a connection.
// Missing times and thresholds stay missing.
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
