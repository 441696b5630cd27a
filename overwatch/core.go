package overwatch

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// core runs the parts that other parts write to, such as store, registry and publisher. Each part runs from its opening
// until all other parts have ended.
type core struct {
	group *errgroup.Group
	ctx   context.Context // ends when stop is called or a part fails
	stop  context.CancelFunc
	last  func() // runs after the end of all parts; may be nil
}

// newCore returns a core without parts. It stops when end is called or a part fails, and not at the end of ctx.
func newCore(ctx context.Context) *core {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	return &core{group: group, ctx: ctx, stop: stop}
}

// run starts a part.
func (c *core) run(part string, f func(context.Context) error) {
	c.group.Go(func() error { return fatal(part, f(c.ctx)) })
}

// stopAll stops all parts and returns the first error.
func (c *core) stopAll() error {
	c.stop()
	err := c.group.Wait()
	if c.last != nil {
		c.last()
	}
	return err
}
