package agent

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/service"
)

// farewell delays the goodbye of a stopping agent until traffic has moved away.
type farewell struct {
	outlook  *outlook
	reporter *report.Reporter
	over     time.Duration // agent.drain_time
	logger   zerolog.Logger
}

// wait returns when the agent should say goodbye: after asked has ended and the drain is over, or
// when running ends because a part has failed. Another SIGINT or SIGTERM ends the drain.
func (f *farewell) wait(asked, running context.Context) {
	select {
	case <-asked.Done():
	case <-running.Done():
		return
	}
	notify(service.Stopping, f.logger)
	connected := slices.ContainsFunc(f.reporter.Nodes(), func(n report.NodeState) bool { return n.Connected })
	if f.over <= 0 || !connected {
		return // no connected node could lead traffic away
	}
	f.logger.Info().Stringer("drain_time", f.over).Msg(
		"draining: overwatch nodes lead traffic away, then the agent stops; another signal stops it at once")
	f.outlook.drain(f.over)
	f.reporter.Drained()
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(again) // a third signal ends the process
	drained := time.NewTimer(f.over)
	defer drained.Stop()
	select {
	case <-drained.C:
	case <-again:
		f.logger.Info().Msg("drain cut short by a signal")
	case <-running.Done():
	}
}
