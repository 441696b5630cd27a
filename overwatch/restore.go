package overwatch

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// restore reads what the registry knew before the restart. A record that cannot be is left out, with a line in the log.
func restore(s *store.Store, log zerolog.Logger) ([]registry.Remembered, []registry.Override, error) {
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
		if o.ExpiresAt != nil && !o.ExpiresAt.After(time.Now()) {
			if err := s.DeleteOverride(o.Service, o.Address); err != nil {
				return nil, nil, fmt.Errorf("deleting an expired override: %w", err)
			}
			continue
		}
		order, err := override(o)
		if err != nil {
			log.Error().Err(err).Msg("a stored override is left out")
			continue
		}
		overrides = append(overrides, order)
	}
	return remembered, overrides, nil
}

// rememberedOf is a stored status as the registry takes it.
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

// soundServers are the stored servers that can be declared. The others are left out, with a line in the log. A check
// that is refused by now, as one with a pattern that costs too much, keeps what is not; else it becomes a connection.
func soundServers(servers []store.Server, log zerolog.Logger) []store.Server {
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

// makeable returns a check that can be made: the given one, or as much of it as can be. One without times has the
// node's.
func makeable(spec check.Spec) check.Spec {
	plain := spec.Detail.Detail()
	plain.BodyMatches = ""
	without := spec
	without.Detail = plain.Details()
	for _, s := range []check.Spec{spec, without} {
		timed := s
		if timed.Interval == 0 {
			timed.Interval, timed.Timeout = check.DefaultInterval, check.DefaultTimeout
		}
		if len(timed.Validate()) == 0 {
			return s
		}
	}
	return reduce.Connection()
}

// override is a stored override as the registry takes it.
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

// statuses lets the registry save into the store.
type statuses struct{ store *store.Store }

// SaveStatuses implements registry.StatusStore.
func (s statuses) SaveStatuses(list []registry.Remembered) error {
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
	return s.store.SaveStatuses(out)
}

// latencyPace is how often latencies are saved: what a crash loses is re-measured in a few checks.
const latencyPace = time.Minute

// restoreLatencies reads what checks took before the restart.
func restoreLatencies(s *store.Store) (map[registry.ID]policy.Measurement, error) {
	stored, err := s.LoadLatencies()
	if err != nil {
		return nil, fmt.Errorf("loading the measured latencies: %w", err)
	}
	latencies := make(map[registry.ID]policy.Measurement, len(stored))
	for _, l := range stored {
		latencies[registry.ID{Service: l.Service, Address: l.Address, Port: l.Port}] = policy.Measurement{
			Smoothed: l.Smoothed, Samples: l.Samples, Held: l.Held}
	}
	return latencies, nil
}

// keepLatencies saves latencies now and then, and once more when ctx ends. It returns nil: without them a restart
// measures anew.
func (n *node) keepLatencies(ctx context.Context) error {
	ticker := time.NewTicker(latencyPace)
	defer ticker.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-ticker.C:
		}
		if err := n.saveLatencies(); err != nil {
			n.log.Error().Err(err).Msg("saving measured latencies")
		}
	}
	return nil
}

func (n *node) saveLatencies() error {
	var latencies []store.Latency
	for id, m := range n.publisher.Latencies() {
		latencies = append(latencies, store.Latency{Service: id.Service, Address: id.Address, Port: id.Port,
			Smoothed: m.Smoothed, Samples: m.Samples, Held: m.Held})
	}
	if len(latencies) == 0 && !n.keptLatencies {
		return nil // as on most nodes
	}
	n.keptLatencies = true
	return n.store.SaveLatencies(latencies)
}
