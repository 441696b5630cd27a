package overwatch

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/service"
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
		n.notifyManager(service.Reloading)
		changes, _, err := n.control.Reload(ctx) // it logs errors itself
		n.notifyManager(service.Ready)
		err = n.audit.Record(audit.Change{
			Action: "reload", Resource: "config", ResourceID: n.state.Config().Overwatch.Identity.NodeID, Actor: "SIGHUP",
			ActorType: api.ActorSystem,
			After:     changes, Err: err, Duration: time.Since(began),
		})
		if err != nil {
			n.log.Error().Err(err).Msg("a reload is not in the audit log")
		}
	}
}

// identityWaits returns the node's certificate file if the next start would not find the identity there that is in
// force and that agents have pinned; else nil.
func (n *node) identityWaits() (restart []string) {
	certificate := filepath.Join(n.state.Config().DataDir, certificateFile)
	next, err := identity.Load(certificate, filepath.Join(n.state.Config().DataDir, keyFile))
	switch {
	case err != nil:
		n.log.Warn().Err(err).Msg(
			"the files of this node's identity cannot be used: this process goes on with the identity it has, the next start " +
				"will not")
	case next.KeyID != n.identity.KeyID:
		n.log.Warn().Str("fingerprint", next.KeyID.Fingerprint()).Msg(
			"the files of this node's identity have another one, from the next start on: agents that have pinned the one in " +
				"force refuse it")
	default:
		return nil
	}
	return []string{certificate}
}
