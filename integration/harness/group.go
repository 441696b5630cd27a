package harness

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is a set of goroutines that are waited for together. Wait raises a panic of any of them again, in the goroutine
// of its caller, who may have a terminal to put back in order.
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
