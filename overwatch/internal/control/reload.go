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

// Outcomes of a reload, as the metric has them.
const (
	reloadDone   = "done"
	reloadFailed = "failed"
)

// Reload reads the configuration file and the signing keys again and puts them into force. It returns the keys and
// files that have changed and are in force, and those whose change needs a restart, without secrets. On an error the
// configuration before stays in force.
func (p *Plane) Reload(ctx context.Context) (changes, restart []string, err error) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	next, err := Load(p.o.ConfigPath)
	unloaded := err
	if err == nil { // changes by the API go on while resolvers are waited for
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
		p.log.Error().Err(err).Msg("the configuration was not reloaded; the one before stays in force")
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

// readmit withdraws the claims that an agent may no longer make. An agent without any service is forgotten.
func (p *Plane) readmit(ctx context.Context, agent string) error {
	if record, _ := p.o.Trust.Get(agent); len(record.Services) == 0 {
		return p.o.Registry.RemoveAgent(ctx, agent)
	}
	return p.o.Registry.WithdrawDisallowed(ctx, agent, func(id registry.ID) bool { return p.o.Allowed(agent, id) })
}

// reload puts a configuration of the file and the signing keys into force. files are the files beside it that have
// changed and are in force, restart the keys and files whose change needs a restart. On an error the configuration
// before stays in force. The caller holds mu.
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
	// The order: backends of new names, since a backend without a name harms nothing; names; the other backends; and
	// last tokens and policies, since those may take backends away. Reload is all or nothing: once the names are in
	// force, only the end of the node stops it, even if its caller has gone.
	p.KeepSerials(p.o.Publisher.Serial())
	if p.o.Zones != nil {
		altered, err := p.o.Zones.Reread()
		if err != nil {
			return nil, nil, err
		}
		if altered {
			files = append(files, dnssec.Directory(p.running.DataDir))
		}
	}
	restore := p.o.Targets.hold()
	if err = p.prepareNames(ctx, joined); err == nil {
		err = p.o.Publisher.Reconfigure(ctx, served, nil)
	}
	ctx = p.o.Running
	if err != nil {
		restore()
		return nil, nil, errors.Join(err, Declare(ctx, p.o.Registry, p.o.Targets, p.Config()))
	}
	p.useFile(next, left)
	p.show(over, p.set)
	_ = p.logging.Set(joined.Logging) // which has been checked
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

// longer returns the timing while declarations change: each duration is the longer of the two. A backend that both
// configurations keep by their own times must not go because the declarations of one meet the times of the other. It
// goes when its agent is gone (RemoveAfter) and no verdict of this node keeps it (ValidationInterval), and leaves the
// answers when its agent is silent (StaleThreshold).
func longer(before, after registry.Timing) registry.Timing {
	after.StaleThreshold = max(before.StaleThreshold, after.StaleThreshold)
	after.RemoveAfter = max(before.RemoveAfter, after.RemoveAfter)
	after.ValidationInterval = max(before.ValidationInterval, after.ValidationInterval)
	return after
}

// reconfigureChecks gives the registry and the validator the check settings of a configuration. The registry comes
// first, since it refuses verdicts that it does not expect.
func (p *Plane) reconfigureChecks(ctx context.Context, cfg *config.Config) error {
	if err := p.o.Registry.SetTiming(ctx, Timing(cfg)); err != nil {
		return err
	}
	return p.o.Validator.Reconfigure(validation.SettingsOf(cfg))
}
