package overwatch

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"gslb.internal/overwatch/internal/answer/publish"
)

// core is the parts that all others write to: store, registry and publisher. They run from the moment they are opened
// until everything else has ended.
type core struct {
	group *errgroup.Group
	ctx   context.Context // ends when stop is called or a part fails
	stop  context.CancelFunc
}

func newCore(ctx context.Context) *core {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	return &core{group, ctx, stop}
}

// run starts one part.
func (c *core) run(part string, f func(context.Context) error) {
	c.group.Go(func() error { return fatal(part, f(c.ctx)) })
}

// end stops all parts and returns the first error of one.
func (c *core) end() error {
	c.stop()
	return c.group.Wait()
}

// changes hands changed services from the registry to the publisher. While the first view is being made from everything
// that is known, it keeps them; before that, it is in nobody's interest.
type changes struct {
	mu        sync.Mutex
	publisher *publish.Publisher
	also      func(service string) // nil: nobody else is told
	kept      map[string]struct{}  // nil: nothing is kept
}

// mark is told by the registry. It does not block.
func (c *changes) mark(service string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.also != nil {
		c.also(service)
	}
	if c.publisher != nil {
		c.publisher.Mark(service)
	} else if c.kept != nil {
		c.kept[service] = struct{}{}
	}
}

// tell has somebody else told too, who must not block.
func (c *changes) tell(also func(service string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.also = also
}

// keep begins to keep: the publisher looks at what is known now.
func (c *changes) keep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = make(map[string]struct{})
}

// pass gives the publisher what is kept and all that follows.
func (c *changes) pass(p *publish.Publisher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for service := range c.kept {
		p.Mark(service)
	}
	c.publisher, c.kept = p, nil
}
