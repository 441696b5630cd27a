package agent

import (
	"context"
	"errors"
	"fmt"
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

// reload loads the configuration on request and applies its overwatch nodes, backends, checks and tokens. It logs and
// ignores an invalid configuration. It also polls the files of agent.backends_from.
type reload struct {
	path     string
	started  *config.Config // the configuration of the other parts
	found    *discovery
	view     *outlook
	reporter *report.Reporter
	outcomes *prometheus.CounterVec
	notices  noticeFile
	logger   zerolog.Logger
}

func newReloads() *prometheus.CounterVec {
	outcomes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gslb_agent_reloads_total", Help: "Number of reloads of the configuration, by outcome.",
	}, []string{"outcome"})
	for _, o := range []string{"success", "failure"} {
		outcomes.WithLabelValues(o)
	}
	return outcomes
}

// run reloads at each signal of asked, and polls the files with backends, until ctx ends.
func (r *reload) run(ctx context.Context, asked <-chan os.Signal) error {
	looks := time.NewTicker(readInterval)
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-looks.C:
			r.applyChanges()
			if r.readNotices() {
				r.reporter.RenewBackends(r.found.config.Tokens(), false)
			}
			continue
		case <-asked:
		}
		notify(service.Reloading, r.logger)
		err := r.once()
		notify(service.Ready, r.logger)
		if err != nil {
			r.logger.Error().Err(err).Msg("the reload failed; the previous configuration stays active")
			r.outcomes.WithLabelValues("failure").Inc() // after the log line, which contains the reason
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
	before := r.found.config
	if err := r.reporter.Follow(next.Agent.Gossip.OverwatchNodes); err != nil {
		return fmt.Errorf("agent.gossip.overwatch_nodes: %w", err)
	}
	r.found.setConfig(next)
	did, err := r.apply(true)
	if err != nil {
		r.found.setConfig(before)
		return errors.Join(err, r.reporter.Follow(before.Agent.Gossip.OverwatchNodes))
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

// applyChanges applies changes of the files of agent.backends_from and of the addresses of targets.
func (r *reload) applyChanges() {
	if !r.found.readChanged(false) {
		return
	}
	did, err := r.apply(false)
	if err != nil { // a bug, because the checks have been validated
		r.logger.Error().Err(err).Msg("backends of files and targets cannot be checked")
		return
	}
	r.logger.Info().Int("added", did.Added).Int("changed", did.Changed).Int("removed", did.Removed).
		Msg("backends of files or targets changed")
}

// apply passes the current backends and tokens to the monitor and the reporter, and the draining backends to the view.
// With prove, the agent proves the tokens even if they are unchanged.
func (r *reload) apply(prove bool) (monitor.Changes, error) {
	all, drained := r.found.allBackends()
	did, err := r.view.checks.Replace(all)
	if err != nil {
		return did, err
	}
	r.view.setDraining(drained, r.found.config.Agent.DrainTime)
	r.reporter.RenewBackends(r.found.config.Tokens(), prove)
	return did, nil
}
