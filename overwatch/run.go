package overwatch

import (
	"context"
	"os"

	"golang.org/x/sync/errgroup"

	"gslb.internal/overwatch/internal/config"
	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/overwatch/internal/zone"
)

// run answers until ctx ends or a part fails. What writes outlives what asks it to: the registry and the publisher stop
// when everything that calls them has.
func (n *node) run(ctx context.Context, hangups <-chan os.Signal) error {
	inner, stopInner := context.WithCancel(context.WithoutCancel(ctx))
	defer stopInner()
	core, inner := errgroup.WithContext(inner)
	core.Go(func() error { return fatal("registry", n.registry.Run(inner)) })
	core.Go(func() error { return fatal("publishing", n.publisher.Run(inner)) })
	core.Go(func() error { return fatal("store", n.store.Run(inner)) })

	outer, ctx := errgroup.WithContext(ctx)
	outer.Go(func() error { // a core that fails ends the rest
		select {
		case <-inner.Done():
			return errStopped
		case <-ctx.Done():
			return nil
		}
	})
	cfg := n.inForce.Load().config
	if err := n.declare(ctx, cfg); err != nil {
		stopInner()
		return firstError(core.Wait(), err)
	}
	outer.Go(func() error {
		n.serving.Store(true)
		defer n.serving.Store(false)
		return fatal("DNS", n.dns.Run(ctx))
	})
	outer.Go(func() error { return fatal("gossip", n.gossip.Run(ctx)) })
	if n.validator != nil {
		outer.Go(func() error { return fatal("validation", n.validator.Run(ctx)) })
	}
	if n.api != nil {
		outer.Go(func() error { return fatal("API", n.api.Run(ctx)) })
	}
	if n.metrics != nil {
		outer.Go(func() error { return fatal("metrics", n.metrics.Run(ctx)) })
	}
	outer.Go(func() error { return n.reloadOn(ctx, hangups) })
	n.announce(cfg)

	err := outer.Wait()
	stopInner()
	err = firstError(core.Wait(), err)
	n.log.Info().Msg("overwatch stopped")
	return err
}

// firstError prefers the core's error, which is the cause when both have one.
func firstError(core, outer error) error {
	if core != nil {
		return core
	}
	return outer
}

// declare tells the registry what the configuration declares, and waits until the answers know it.
func (n *node) declare(ctx context.Context, cfg *config.Config) error {
	servers := cfg.StaticServers()
	declarations := make([]registry.Declaration, len(servers))
	for i, s := range servers {
		declarations[i] = registry.Declaration{
			ID: registry.ID{Service: s.Service, Address: s.Address, Port: s.Port}, Weight: s.Weight, Region: s.Region, Check: s.Check,
		}
	}
	if err := n.registry.SetStatic(ctx, declarations); err != nil {
		return err
	}
	return n.publisher.Flush(ctx)
}

// announce says what runs, and what does not yet.
func (n *node) announce(cfg *config.Config) {
	for _, message := range cfg.Inactive() {
		n.log.Warn().Msg(message)
	}
	for _, message := range cfg.Warnings() {
		n.log.Warn().Msg(message)
	}
	e := n.log.Info().Str("node_id", cfg.Overwatch.Identity.NodeID).Stringers("dns", stringers(n.dns.Addrs())).
		Stringer("gossip", n.gossip.Addr()).Int("domains", len(cfg.Domains))
	if n.api != nil {
		e = e.Stringer("api", n.api.Addr())
	}
	if n.metrics != nil {
		e = e.Stringer("metrics", n.metrics.Addr())
	}
	e.Msg("overwatch started")
}

// view is what DNS answers from.
func (n *node) view() *zone.View { return n.publisher.View() }
