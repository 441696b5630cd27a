package overwatch

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"gslb.internal/overwatch/internal/answer/publish"
)

// core runs the parts that others write to, such as store, registry and publisher. Each runs from the moment it is
// opened until everything else has ended.
type core struct {
	group *errgroup.Group
	ctx   context.Context // ends when stop is called or a part fails
	stop  context.CancelFunc
}

// newCore makes a core without parts. The end of ctx does not stop it: end does, or a part that fails.
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

// changes passes the names of changed services from the registry to the publisher. Until keep is called it drops them,
// since the first view is made from all that is known by then. From keep to pass it stores them, and pass hands them
// over.
type changes struct {
	mu        sync.Mutex
	publisher *publish.Publisher
	also      func(service string) // is called too; nil: nothing is
	kept      map[string]struct{}  // nil: nothing is kept
}

// mark notes that the backends of a service have changed. The registry calls it. It does not block.
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

// subscribe sets a function that is called with each changed service too. It must not block.
func (c *changes) subscribe(also func(service string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.also = also
}

// keep begins to store changed services. It is called right before the publisher reads all backends for the first view.
func (c *changes) keep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = make(map[string]struct{})
}

// pass gives the publisher the stored services, and from then on each one that changes.
func (c *changes) pass(p *publish.Publisher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for service := range c.kept {
		p.Mark(service)
	}
	c.publisher, c.kept = p, nil
}
