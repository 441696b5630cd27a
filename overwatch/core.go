package overwatch

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// core runs the parts that others write to, such as store, registry and publisher. Each runs from the moment it is
// opened until everything else has ended.
type core struct {
	group *errgroup.Group
	ctx   context.Context // ends when stop is called or a part fails
	stop  context.CancelFunc
	last  func() // runs after all parts have ended; nil: nothing
}

// newCore makes a core without parts. The end of ctx does not stop it: end does, or a part that fails.
func newCore(ctx context.Context) *core {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	return &core{group: group, ctx: ctx, stop: stop}
}

// run starts one part.
func (c *core) run(part string, f func(context.Context) error) {
	c.group.Go(func() error { return fatal(part, f(c.ctx)) })
}

// end stops all parts and returns the first error of one.
func (c *core) end() error {
	c.stop()
	err := c.group.Wait()
	if c.last != nil {
		c.last()
	}
	return err
}
