package peerauth

import "sync"

// LiveSettings holds the settings of an exchange with peers, which a reload replaces, and the reason for a disabled
// exchange. Any goroutine may use it.
type LiveSettings[S any] struct {
	changed chan struct{} // has an element after Signal

	mu       sync.Mutex
	settings S
	problem  string
}

// NewLiveSettings returns the settings of a start.
func NewLiveSettings[S any](settings S) *LiveSettings[S] {
	return &LiveSettings[S]{settings: settings, changed: make(chan struct{}, 1)}
}

// Get returns the current settings.
func (l *LiveSettings[S]) Get() S {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settings
}

// Set replaces the settings.
func (l *LiveSettings[S]) Set(settings S) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settings = settings
}

// Signal wakes the goroutine that receives from Changed.
func (l *LiveSettings[S]) Signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Changed returns the channel of Signal. One goroutine receives from it.
func (l *LiveSettings[S]) Changed() <-chan struct{} { return l.changed }

// SetProblem stores the reason for a disabled exchange, or nil. It reports whether the reason differs from the
// previous one.
func (l *LiveSettings[S]) SetProblem(problem error) (isNew bool) {
	text := ""
	if problem != nil {
		text = problem.Error()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	isNew = text != l.problem
	l.problem = text
	return isNew
}

// HasProblem reports whether SetProblem stored a reason.
func (l *LiveSettings[S]) HasProblem() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.problem != ""
}
