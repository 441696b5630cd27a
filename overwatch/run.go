package overwatch

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/leaf/heap"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/service"
)

// stopPatience is the time limit for all parts except DNS to stop. Only a disk that hangs or is slow by seconds needs
// more time.
const stopPatience = 10 * time.Second

// errHanging is the error of run if parts do not stop within stopPatience. The caller must not wait for these parts.
var errHanging = errors.New(
	"the disk of data_dir takes too long: ended without storing the latest " +
		"statuses of backends at least")

// run answers queries until ctx ends or a part fails. The core stops after the parts that write to it. DNS stops last,
// after all data is stored, so that the node answers queries during the stop.
func (n *node) run(ctx context.Context, hangups <-chan os.Signal) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// DNS ends last, to minimize its interruption by a restart.
	answering, stopAnswering := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAnswering()
	var dns errgroup.Group
	starting, answers := ctx, make(chan struct{})
	dns.Go(func() error {
		defer stop() // stops the other parts
		n.replication.Catch(starting)
		close(answers)
		n.serving.Store(true)
		defer n.serving.Store(false)
		return fatal("DNS", n.dns.Run(answering))
	})
	n.core.run("signing", n.publisher.Sign)
	n.core.run("heap", heap.Follow)
	outer, ctx := errgroup.WithContext(ctx)
	outer.Go(func() error { // a failed core ends the other parts
		select {
		case <-n.core.ctx.Done():
			return errStopped
		case <-ctx.Done():
			return nil
		}
	})
	outer.Go(func() error { return fatal("gossip", n.gossip.Run(ctx)) })
	if n.keySync != nil {
		outer.Go(func() error { return fatal("key synchronisation", n.keySync.Run(ctx)) })
	}
	outer.Go(func() error { return fatal("validation", n.validator.Run(ctx)) })
	outer.Go(func() error { return n.awaitFirstCycle(ctx) })
	outer.Go(func() error { return n.brakes.Run(ctx, n.validator.CheckNow) })
	outer.Go(func() error { return n.peerHints.Run(ctx) })
	if n.api != nil {
		outer.Go(func() error { return fatal("API", n.api.Run(ctx)) })
	}
	if n.metrics != nil {
		outer.Go(func() error { return fatal("metrics", n.metrics.Run(ctx)) })
	}
	outer.Go(func() error { return fatal("replication", n.replication.Run(ctx)) })
	outer.Go(func() error { return n.reloadOn(ctx, hangups) })
	outer.Go(func() error { return n.control.WatchDatabase(ctx) })
	outer.Go(func() error { return n.control.WatchFile(ctx) })
	outer.Go(func() error { return n.control.WatchTargets(ctx) })
	outer.Go(func() error { return n.control.ExpireRecords(ctx) })
	outer.Go(func() error { return n.events.Load().Run(ctx) })
	outer.Go(func() error { return n.events.Load().FollowAuditLog(ctx) })
	outer.Go(func() error { return n.notifier.Run(ctx) })
	outer.Go(func() error { return n.watchdog(ctx) })
	<-answers
	n.announce(n.state.Config())
	n.notifyManager(service.Ready)

	<-ctx.Done()
	n.notifyManager(service.Stopping)
	ended := make(chan error, 1)
	go func() {
		err := outer.Wait()
		if cause := n.core.stopAll(); cause != nil {
			err = cause
		}
		n.closeStore()
		ended <- err
	}()
	var err error
	patience := time.NewTimer(n.patience)
	defer patience.Stop()
	select {
	case err = <-ended:
	case <-patience.C:
		err = errHanging
	}
	stopAnswering()
	if failure := dns.Wait(); failure != nil && (err == nil || errors.Is(err, errStopped)) { // the cause of other errors
		err = failure
	}
	n.log.Info().Msg("overwatch stopped")
	return err
}

// awaitFirstCycle returns nil when the answers include the first cycle of this node's checks. The node is then ready.
func (n *node) awaitFirstCycle(ctx context.Context) error {
	select {
	case <-n.validator.FirstCycle():
		n.cycled.Store(n.publisher.Flush(ctx) == nil)
	case <-ctx.Done():
	}
	return nil
}

// announce logs the warnings of the configuration, and the addresses of the node.
func (n *node) announce(cfg *config.Config) {
	for _, message := range cfg.Warnings() {
		n.log.Warn().Msg(message)
	}
	e := n.log.Info().Str("node_id", cfg.Overwatch.Identity.NodeID).Interface("dns", n.dns.Addrs()).
		Stringer("gossip", n.gossip.Addr()).Int("domains", cfg.CountDomains())
	if n.api != nil {
		e = e.Stringer("api", n.api.Addr())
	}
	if n.metrics != nil {
		e = e.Stringer("metrics", n.metrics.Addr())
	}
	e.Msg("overwatch started")
	control.LogEmpty(n.state.Domains(), n.registry.View(), n.log)
}

// notifyManager reports a state of the node to the service manager. It logs failures.
func (n *node) notifyManager(state func() error) {
	if err := state(); err != nil {
		n.log.Warn().Err(err).Msg("the service manager does not hear")
	}
}

// watchdog reports to the service manager that the process is alive while the registry and the publication make
// progress. Unanswered queries in a flood do not stop the reports.
func (n *node) watchdog(ctx context.Context) error {
	err := service.Watch(ctx, func(ctx context.Context) error {
		return errors.Join(n.registry.WaitForCommands(ctx), n.publisher.Flush(ctx))
	})
	if err != nil {
		n.log.Error().Err(err).Msg("the watchdog of the service manager receives no signals of this process")
	}
	return nil
}

// view returns the view that DNS answers from.
func (n *node) view() *zone.View { return n.publisher.View() }
