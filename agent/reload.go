package agent

import (
	"context"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/service"
	"gslb.internal/shared/settings"
)

// reload reads the configuration again on request and applies its backends, their checks and their
// tokens. A wrong configuration is logged and changes nothing.
type reload struct {
	path     string
	started  *config.Config // the configuration of the other parts
	watched  *monitor.Monitor
	reporter *report.Reporter
	outcomes *prometheus.CounterVec
	logger   zerolog.Logger
}

func newReloads() *prometheus.CounterVec {
	outcomes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gslb_agent_reloads_total", Help: "Times the configuration was read again, by outcome.",
	}, []string{"outcome"})
	for _, o := range []string{"success", "failure"} {
		outcomes.WithLabelValues(o)
	}
	return outcomes
}

// run reloads at each signal of asked until ctx ends.
func (r *reload) run(ctx context.Context, asked <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-asked:
		}
		tell(service.Reloading, r.logger)
		err := r.once()
		tell(service.Ready, r.logger)
		if err != nil {
			r.logger.Error().Err(err).Msg("not reloaded: the configuration of before stays in force")
			r.outcomes.WithLabelValues("failure").Inc() // whoever sees it count finds the reason in the log
			continue
		}
		r.outcomes.WithLabelValues("success").Inc()
	}
}

func (r *reload) once() error {
	began := time.Now()
	next, err := config.Load(r.path)
	if err != nil {
		return err
	}
	did, err := r.watched.Replace(backends(next))
	if err != nil {
		return err
	}
	// Load has counted the services, so this cannot fail.
	if err := r.reporter.Renew(next.Tokens()); err != nil {
		return err
	}
	for _, message := range next.Warnings() {
		r.logger.Warn().Msg(message)
	}
	if keys := settings.Changed(r.started, next, settings.Restart); len(keys) > 0 {
		r.logger.Warn().Strs("keys", keys).Msg("these keys have changed and take effect with the next start")
	}
	r.logger.Info().Int("added", did.Added).Int("changed", did.Changed).Int("removed", did.Removed).
		Dur("took", time.Since(began)).Msg("configuration reloaded")
	return nil
}
