package publish

import (
	"sync"

	"gslb.internal/shared/wire"
)

// Changes holds the services that changed since the last publication, and the callers that wait for it. Several changes
// of a service between two publications are combined. It is safe for concurrent use.
type Changes struct {
	ready chan struct{} // has a token while a service is marked

	mu        sync.Mutex
	services  map[string]struct{}
	made      uint64 // number of changes since the creation
	published uint64 // changes that are visible in answers
	waiting   []waiter
}

// waiter has a channel that is closed when a number of changes is visible.
type waiter struct {
	changes uint64
	done    chan struct{}
}

// NewChanges returns empty Changes. Changes marked before the creation of a Publisher are in its first view.
func NewChanges() *Changes {
	return &Changes{ready: make(chan struct{}, 1), services: make(map[string]struct{})}
}

// Mark records that the backends of a service changed. It does not block. The next publication, which starts
// immediately if Publisher.Run is idle, contains the change.
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

// takeServices removes and returns all services. The caller calls markVisible(upTo) after their publication.
func (c *Changes) takeServices() (services map[string]struct{}, upTo uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	services, c.services = c.services, make(map[string]struct{})
	return services, c.made
}

// dropServices removes all services, because the first view will contain their changes. The caller calls
// markVisible(upTo) after the publication of that view.
func (c *Changes) dropServices() (upTo uint64) {
	select {
	case <-c.ready:
	default:
	}
	_, upTo = c.takeServices()
	return upTo
}

// markVisible records that the first upTo changes are in the answers.
func (c *Changes) markVisible(upTo uint64) {
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

// wait returns a channel that is closed when all previous changes are in the answers.
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
