package control

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/store"
)

// latencyPace is the interval at which the node saves latencies. After a crash, a few checks measure the lost
// latencies.
const latencyPace = time.Minute

// Latencies loads the measured durations of checks from the previous process.
func Latencies(s *store.Store) (map[registry.ID]policy.LatencyMeasurement, error) {
	stored, err := s.LoadLatencies()
	if err != nil {
		return nil, fmt.Errorf("loading the measured latencies: %w", err)
	}
	latencies := make(map[registry.ID]policy.LatencyMeasurement, len(stored))
	for _, l := range stored {
		latencies[registry.ID{Service: l.Service, Address: l.Address, Port: l.Port}] = policy.LatencyMeasurement{
			Smoothed: l.Smoothed, Samples: l.Samples, Groups: l.Held}
	}
	return latencies, nil
}

// LatencyKeeper saves the measured durations of checks for the next process.
type LatencyKeeper struct {
	Store     *store.Store
	Publisher *publish.Publisher
	Logger    zerolog.Logger
	Kept      bool // the store contains latencies
}

// Run saves latencies at an interval, and when ctx ends. It returns nil, because a restarted node measures the
// latencies again.
func (k *LatencyKeeper) Run(ctx context.Context) error {
	ticker := time.NewTicker(latencyPace)
	defer ticker.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-ticker.C:
		}
		if err := k.save(); err != nil {
			k.Logger.Error().Err(err).Msg("saving measured latencies")
		}
	}
	return nil
}

func (k *LatencyKeeper) save() error {
	var latencies []store.Latency
	for id, m := range k.Publisher.Latencies() {
		latencies = append(latencies, store.Latency{Service: id.Service, Address: id.Address, Port: id.Port,
			Smoothed: m.Smoothed, Samples: m.Samples, Held: m.Groups})
	}
	if len(latencies) == 0 && !k.Kept {
		return nil // the usual case
	}
	k.Kept = true
	return k.Store.SaveLatencies(latencies)
}
