package overwatch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"gslb.internal/overwatch/internal/answer/keysync"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/service"
	"gslb.internal/shared/settings"
)

// Outcomes of a reload, as the metric has them.
const (
	reloadDone   = "done"
	reloadFailed = "failed"
)

// reloadOn reads the configuration again at each signal. It returns nil when ctx ends.
func (n *node) reloadOn(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
		}
		began := time.Now()
		n.tell(service.Reloading)
		changes, _, err := n.Reload(ctx) // it has told in the log
		n.tell(service.Ready)
		err = n.audit.Record(audit.Change{
			Action: "reload", Resource: "config", ResourceID: n.inForce.Load().config.Overwatch.Identity.NodeID, Actor: "SIGHUP", ActorType: api.ActorSystem,
			After: changes, Err: err, Duration: time.Since(began),
		})
		if err != nil {
			n.log.Error().Err(err).Msg("a reload is not in the audit log")
		}
	}
}

// readmit withdraws what an agent claimed and may claim no longer. One that speaks for nothing any more is forgotten.
func (n *node) readmit(ctx context.Context, agent string) error {
	if record, _ := n.trust.Get(agent); len(record.Services) == 0 {
		return n.registry.DropAgent(ctx, agent)
	}
	return n.registry.Readmit(ctx, agent, func(id registry.ID) bool { return n.allowed(agent, id) })
}

// reload puts the configuration that the file has now into force, and signing keys. files are those that have changed beside it and are in
// force, restart the keys and files whose change needs a restart. On an error the configuration before stays in force. The caller holds
// steering.mu.
func (n *node) reload(ctx context.Context) (files, restart []string, err error) {
	next, err := load(n.configPath)
	if err != nil {
		return nil, nil, err
	}
	addresses, err := publish.NodeAddresses(n.dns.Addrs())
	if err != nil {
		return nil, nil, err
	}
	joined, over, unfit := n.join(next, addresses)
	settings.KeepRunning(n.steering.running, joined)
	served, err := n.settings(joined, addresses)
	if err != nil {
		return nil, nil, err
	}
	// The backends of names that come, since one without a name harms nothing; then names, then the other backends; and last whom to
	// believe, since that may take backends away. Once the names are in force only the end of the node stops it, whoever has ceased to wait:
	// half of it would be neither file.
	n.keepSerials(n.publisher.Serial())
	if n.zones != nil {
		altered, err := n.zones.Reread()
		if err != nil {
			return nil, nil, err
		}
		if altered {
			files = append(files, filepath.Join(n.steering.running.DataDir, keyDirectory))
		}
	}
	if err = n.prepareNames(ctx, joined); err == nil {
		err = n.publisher.Reconfigure(ctx, served)
	}
	ctx = n.core.ctx
	if err != nil {
		return nil, nil, errors.Join(err, n.declare(ctx, n.inForce.Load().config))
	}
	n.steering.follow(next, unfit)
	n.show(over, n.steering.set)
	_ = n.logging.Set(joined.Logging) // which has been checked
	before := n.inForce.Swap(&inForce{joined, time.Now()})
	n.decisions.Sample(joined.Routing.DecisionSample)
	if err := n.registry.Retime(ctx, longer(timing(before.config), timing(joined))); err != nil {
		return nil, nil, err
	}
	if err := n.declare(ctx, joined); err != nil {
		return nil, nil, err
	}
	if err := n.retime(ctx, joined); err != nil {
		return nil, nil, err
	}
	n.trust.SetLimits(limits(next))
	if err := n.recheckAgents(ctx, joined); err != nil {
		return nil, nil, err
	}
	for _, agent := range n.trust.SetTokens(next.Tokens(), policies(next)) {
		if err := n.readmit(ctx, agent); err != nil {
			return nil, nil, err
		}
	}
	if n.keySync != nil {
		n.keySync.Reconfigure(keysync.SettingsOf(next))
	}
	return files, append(n.restartFor(), n.identityWaits()...), n.publisher.Flush(ctx)
}

// identityWaits is the node's certificate file if what the next start will find there is not the identity in force, which agents have
// pinned; else nothing.
func (n *node) identityWaits() (restart []string) {
	certificate := filepath.Join(n.steering.running.DataDir, certificateFile)
	next, err := identity.Load(certificate, filepath.Join(n.steering.running.DataDir, keyFile))
	switch {
	case err != nil:
		n.log.Warn().Err(err).Msg("the files of this node's identity cannot be used: this process goes on with the identity it has, the next start will not")
	case next.KeyID != n.identity.KeyID:
		n.log.Warn().Str("fingerprint", next.KeyID.Fingerprint()).Msg("the files of this node's identity have another one, from the next start on: agents that have pinned the one in force refuse it")
	default:
		return nil
	}
	return []string{certificate}
}

// longer is the times that count while declarations change: a backend that neither the file before nor the one after gives up, with
// the times of each, must not go because of the declarations of one and the times of the other. It goes when its agent is gone
// (RemoveAfter) and no verdict of this node keeps it (ValidationInterval), and goes out of the answers when its agent is silent
// (StaleThreshold).
func longer(before, after registry.Timing) registry.Timing {
	after.StaleThreshold = max(before.StaleThreshold, after.StaleThreshold)
	after.RemoveAfter = max(before.RemoveAfter, after.RemoveAfter)
	after.ValidationInterval = max(before.ValidationInterval, after.ValidationInterval)
	return after
}

// retime has the checks and the registry go by the times of a configuration.
func (n *node) retime(ctx context.Context, cfg *config.Config) error {
	if n.validator != nil {
		if err := n.validator.Retime(cfg.Overwatch.Validation.CheckInterval, cfg.Overwatch.Validation.CheckTimeout); err != nil {
			return err
		}
	}
	return n.registry.Retime(ctx, timing(cfg))
}
