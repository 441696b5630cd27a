package publish

import (
	"sync"

	"gslb.internal/shared/wire"
)

// Changes holds the services that have changed since their last publication, and the callers that wait for it. Several
// changes of one service between two publications count as one. It may be used from any goroutine.
type Changes struct {
	ready chan struct{} // holds one token while there is something to take

	mu        sync.Mutex
	services  map[string]struct{}
	made      uint64 // changes so far
	published uint64 // changes that are visible in answers
	waiting   []waiter
}

// waiter has a channel that is closed when a number of changes is visible.
type waiter struct {
	changes uint64
	done    chan struct{}
}

// NewChanges makes Changes without any. Changes that are marked before there is a Publisher are in its first view.
func NewChanges() *Changes {
	return &Changes{ready: make(chan struct{}, 1), services: make(map[string]struct{})}
}

// Mark notes that the backends of a service have changed. It does not block. The change is in the answers after the
// next publication, which begins at once if Publisher.Run is idle.
func (c *Changes) Mark(service string) {
	service = wire.CanonicalService(service)
	c.mu.Lock()
	c.services[service] = struct{}{}
	c.made++
	c.mu.Unlock()
	c.wake()
}

func (c *Changes) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// take removes and returns all services. The caller calls visible(upTo) when they have been published.
func (c *Changes) take() (services map[string]struct{}, upTo uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	services, c.services = c.services, make(map[string]struct{})
	return services, c.made
}

// drop removes all services, which the first view follows when it is made from now on. The caller calls visible(upTo)
// then.
func (c *Changes) drop() (upTo uint64) {
	select {
	case <-c.ready:
	default:
	}
	_, upTo = c.take()
	return upTo
}

// visible notes that the first upTo changes are in the answers.
func (c *Changes) visible(upTo uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.published = max(c.published, upTo)
	still := c.waiting[:0]
	for _, w := range c.waiting {
		if w.changes <= c.published {
			close(w.done)
		} else {
			still = append(still, w)
		}
	}
	clear(c.waiting[len(still):])
	c.waiting = still
}

// wait returns a channel that is closed when all changes made so far are visible.
func (c *Changes) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := make(chan struct{})
	if c.published == c.made {
		close(done)
	} else {
		c.waiting = append(c.waiting, waiter{c.made, done})
	}
	return done
}
