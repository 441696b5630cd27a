package publish

import "sync"

// marks is which services changed since they were last published, and who waits for that. Any number of changes of one
// service between two publications are one.
type marks struct {
	ready chan struct{} // holds one token while there is something to take

	mu        sync.Mutex
	services  map[string]struct{}
	made      uint64 // marks made so far
	published uint64 // how many of them are visible
	waiting   []waiter
}

// waiter is closed when so many marks are visible.
type waiter struct {
	marks uint64
	done  chan struct{}
}

func newMarks() *marks {
	return &marks{ready: make(chan struct{}, 1), services: make(map[string]struct{})}
}

func (m *marks) add(service string) {
	m.mu.Lock()
	m.services[service] = struct{}{}
	m.made++
	m.mu.Unlock()
	m.wake()
}

func (m *marks) wake() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take empties the set. What was taken is visible once visible(upTo) has been called.
func (m *marks) take() (services map[string]struct{}, upTo uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	services, m.services = m.services, make(map[string]struct{})
	return services, m.made
}

// visible says that the first upTo marks can be seen in answers.
func (m *marks) visible(upTo uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.published = max(m.published, upTo)
	still := m.waiting[:0]
	for _, w := range m.waiting {
		if w.marks <= m.published {
			close(w.done)
		} else {
			still = append(still, w)
		}
	}
	clear(m.waiting[len(still):])
	m.waiting = still
}

// wait returns a channel that is closed when all marks made so far are visible.
func (m *marks) wait() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	done := make(chan struct{})
	if m.published == m.made {
		close(done)
	} else {
		m.waiting = append(m.waiting, waiter{m.made, done})
	}
	return done
}
