package control

import (
	"context"
	"errors"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/validation"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// Outcomes of a reload, the labels of the metric.
const (
	reloadDone   = "done"
	reloadFailed = "failed"
)

// Reload reads the configuration file and the signing keys, and applies them. changes are the applied keys and files,
// restart the changed keys and files that require a restart. Neither has secrets. After an error the previous
// configuration stays active.
func (p *Plane) Reload(ctx context.Context) (changes, restart []string, err error) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	next, err := Load(p.o.ConfigPath)
	unloaded := err
	if err == nil { // the API can make changes while resolvers are queried
		defer p.o.Targets.Await(ctx, next, reloadAwaits)()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.shown.Load().base
	var files []string
	if err == nil {
		files, restart, err = p.reload(ctx, next)
	}
	p.fault.set(unloaded, err)
	if err != nil {
		p.reloads.WithLabelValues(reloadFailed).Inc()
		p.log.Error().Err(err).Msg("the configuration was not reloaded: the previous configuration stays active")
		return nil, nil, err
	}
	p.reloads.WithLabelValues(reloadDone).Inc()
	changes = append(settings.Changed(before, p.shown.Load().base, settings.Live), files...) // keys, never values
	event := p.log.Info().Strs("changed", changes)
	if len(restart) > 0 {
		event = event.Strs("restart_required", restart)
	}
	event.Msg("configuration reloaded")
	return changes, restart, nil
}

// readmit withdraws the backends that an agent may no longer report. An agent without a service is removed.
func (p *Plane) readmit(ctx context.Context, agent string) error {
	if record, _ := p.o.Trust.Get(agent); len(record.Services) == 0 {
		return p.o.Registry.RemoveAgent(ctx, agent)
	}
	return p.o.Registry.WithdrawDisallowed(ctx, agent, func(id registry.ID) bool { return p.o.Allowed(agent, id) })
}

// reload applies a configuration of the file and the signing keys. files are the applied files other than the
// configuration file, restart the changed keys and files that require a restart. After an error the previous
// configuration stays active. The caller holds mu.
func (p *Plane) reload(ctx context.Context, next *config.Config) (files, restart []string, err error) {
	addresses, err := publish.NodeAddresses(p.o.Listening())
	if err != nil {
		return nil, nil, err
	}
	joined, over, left := p.join(next, p.set, addresses)
	settings.KeepRunning(p.running, joined)
	served, err := p.Settings(joined, addresses)
	if err != nil {
		return nil, nil, err
	}
	// The order is: backends of new names, because a backend without a name has no effect; names; other backends;
	// tokens and policies, which can remove backends. After the names, only the end of the node stops the reload.
	p.KeepSerials(p.o.Publisher.Serial())
	if p.o.Zones != nil {
		altered, err := p.o.Zones.ReloadKeys()
		if err != nil {
			return nil, nil, err
		}
		if altered {
			files = append(files, dnssec.Directory(p.running.DataDir))
		}
	}
	restore := p.o.Targets.saveState()
	if err = p.prepareNames(ctx, joined); err == nil {
		err = p.o.Publisher.Reconfigure(ctx, served, nil)
	}
	ctx = p.o.Running
	if err != nil {
		restore()
		return nil, nil, errors.Join(err, Declare(ctx, p.o.Registry, p.o.Targets, p.Config()))
	}
	p.setFile(next, left)
	p.publish(over, p.set)
	_ = p.logging.Set(joined.Logging) // validated before
	before := p.current.Swap(newCurrent(joined, p.set, time.Now()))
	p.o.Decisions.SetSampleInterval(joined.Routing.DecisionSample)
	p.o.SetMaxUDPSize(joined.DNS.MaxUDPSize)
	if err := p.o.Registry.SetTiming(ctx, longer(Timing(before.config), Timing(joined))); err != nil {
		return nil, nil, err
	}
	if err := Declare(ctx, p.o.Registry, p.o.Targets, joined); err != nil {
		return nil, nil, err
	}
	if err := p.reconfigureChecks(ctx, joined); err != nil {
		return nil, nil, err
	}
	p.o.Trust.SetLimits(Limits(next))
	if err := p.recheckAgents(ctx, joined); err != nil {
		return nil, nil, err
	}
	for _, agent := range p.o.Trust.SetTokens(next.Tokens(), Policies(next)) {
		if err := p.readmit(ctx, agent); err != nil {
			return nil, nil, err
		}
	}
	if p.o.KeySync != nil {
		p.o.KeySync.Reconfigure(keysync.SettingsOf(next))
	}
	if r := p.o.Replication(); r != nil {
		r.Reconfigure(replication.SettingsOf(next))
	}
	if p.o.Reconfigured != nil {
		p.o.Reconfigured(joined)
	}
	return files, append(p.RestartRequired(), p.identityWaits()...), p.o.Publisher.Flush(ctx)
}

// longer returns the timing while declarations change: each duration is the longer of the two. With a mixture of the
// declarations of a configuration and the times of another, the registry could remove a backend that both
// configurations have.
func longer(before, after registry.Timing) registry.Timing {
	after.StaleThreshold = max(before.StaleThreshold, after.StaleThreshold)
	after.RemoveAfter = max(before.RemoveAfter, after.RemoveAfter)
	after.ValidationInterval = max(before.ValidationInterval, after.ValidationInterval)
	return after
}

// reconfigureChecks applies the check settings of a configuration to the registry and then to the validator: the
// registry rejects results of unknown checks.
func (p *Plane) reconfigureChecks(ctx context.Context, cfg *config.Config) error {
	if err := p.o.Registry.SetTiming(ctx, Timing(cfg)); err != nil {
		return err
	}
	return p.o.Validator.Reconfigure(validation.SettingsOf(cfg))
}
