package overwatch

import (
	"context"
	"os"
	"time"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
	"gslb.internal/shared/service"
)

// reloadOn reloads the configuration at each signal. It returns nil when ctx ends.
func (n *node) reloadOn(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-signals:
		}
		began := time.Now()
		n.notifyManager(service.Reloading)
		changes, _, err := n.control.Reload(ctx) // Reload logs errors
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
