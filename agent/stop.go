package agent

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/report"
	"gslb.internal/shared/service"
)

// leaver is the part of report.Reporter that a farewell uses.
type leaver interface {
	Nodes() []report.NodeState
	ReportDrain()
	HandOver()
}

// farewell delays the deregistration of a stopping agent until the drain has ended.
type farewell struct {
	outlook  *outlook
	reporter leaver
	when     config.DrainOnStop
	over     time.Duration // agent.drain_time
	handover <-chan os.Signal
	logger   zerolog.Logger
}

// wait returns when the agent may stop: after the request of a stop or a handover and the end of the drain, or when
// running ends because a part has failed. Another SIGINT or SIGTERM ends the drain. In the table, goodbye means
// deregistering:
//
//	drain_on_stop  SIGTERM, SIGINT          handover (restart of the service)
//	auto           drain, then the goodbye  neither
//	always         drain, then the goodbye  drain, then the goodbye
//	never          the goodbye              neither
func (f *farewell) wait(asked, running context.Context) {
	handover := false
	select {
	case <-asked.Done():
	case <-f.handover:
		handover = f.when != config.DrainAlways
	case <-running.Done():
		return
	}
	notify(service.Stopping, f.logger)
	if handover {
		f.logger.Info().Msg("stopping for a restart: the backends stay in the answers, and the next process reports them")
		f.reporter.HandOver()
		return
	}
	connected := slices.ContainsFunc(f.reporter.Nodes(), func(n report.NodeState) bool { return n.Connected })
	if f.when == config.DrainNever || f.over <= 0 || !connected {
		return // without a drain: disabled, or no connected node
	}
	f.drain(running)
}

// drain reports a drain of agent.drain_time to the overwatch nodes, and waits for its end.
func (f *farewell) drain(running context.Context) {
	f.logger.Info().Stringer("drain_time", f.over).Msg(
		"draining: overwatch nodes move traffic away, then the agent stops; a second signal stops it immediately")
	f.outlook.drain(f.over)
	f.reporter.ReportDrain()
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
