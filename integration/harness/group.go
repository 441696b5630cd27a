package harness

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is a set of goroutines that Wait waits for. Wait repeats a panic of a goroutine in the goroutine of its caller,
// so that the caller can restore the terminal.
type Group struct {
	running sync.WaitGroup

	mu       sync.Mutex
	panicked string
}

// Start runs f in a goroutine of the group.
func (g *Group) Start(f func()) {
	g.running.Go(func() {
		defer func() {
			if reason := recover(); reason != nil {
				g.mu.Lock()
				g.panicked = fmt.Sprintf("%v\n%s", reason, debug.Stack())
				g.mu.Unlock()
			}
		}()
		f()
	})
}

// Wait waits until all goroutines have ended. It panics if one of them did.
func (g *Group) Wait() {
	g.running.Wait()
	if g.panicked != "" {
		panic(g.panicked)
	}
}
