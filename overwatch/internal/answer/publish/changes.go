package publish

import "sync"

// changes is which services changed since they were last published, and who waits for that. Any number of changes of
// one service between two publications are one.
type changes struct {
	ready chan struct{} // holds one token while there is something to take

	mu        sync.Mutex
	services  map[string]struct{}
	made      uint64 // changes so far
	published uint64 // how many of them are visible
	waiting   []waiter
}

// waiter is closed when so many changes are visible.
type waiter struct {
	changes uint64
	done    chan struct{}
}

func newChanges() *changes {
	return &changes{ready: make(chan struct{}, 1), services: make(map[string]struct{})}
}

func (c *changes) add(service string) {
	c.mu.Lock()
	c.services[service] = struct{}{}
	c.made++
	c.mu.Unlock()
	c.wake()
}

func (c *changes) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// take empties the set. What was taken is visible once visible(upTo) has been called.
func (c *changes) take() (services map[string]struct{}, upTo uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	services, c.services = c.services, make(map[string]struct{})
	return services, c.made
}

// visible says that the first upTo changes can be seen in answers.
func (c *changes) visible(upTo uint64) {
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
func (c *changes) wait() <-chan struct{} {
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
