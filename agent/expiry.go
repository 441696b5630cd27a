package agent

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

// Warnings about the certificate begin expiryWarning before its end and repeat every expiryEvery.
const (
	expiryWarning = 60 * 24 * time.Hour
	expiryEvery   = 24 * time.Hour
)

// watchExpiry warns before the agent's certificate ends, and again each day, until ctx ends.
func watchExpiry(ctx context.Context, ends time.Time, logger zerolog.Logger) error {
	ticker := time.NewTicker(expiryEvery)
	defer ticker.Stop()
	for {
		tellExpiry(ends.Round(0), time.Now().Round(0), logger) // the validity is about wall clocks
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func tellExpiry(ends, now time.Time, logger zerolog.Logger) {
	const remedy = "stop the agent, run gslb-agent --reset-identity, delete the agent's pin on every overwatch node, " +
		"start it again"
	switch left := ends.Sub(now); {
	case left <= 0:
		logger.Error().Time("not_after", ends).Msg("the agent's certificate has expired, overwatch nodes refuse it: " +
			remedy)
	case left < expiryWarning:
		logger.Warn().Time("not_after", ends).Int("days", int(left.Hours()/24)).
			Msg("the agent's certificate expires soon, then overwatch nodes refuse it: " + remedy)
	}
}
