package overwatch

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// servingPercent is how far the heap may grow beyond what lives, in percent, before it is collected. Once a node
	// serves, little is made and a collection is rare, so that a small heap costs next to nothing (measured:
	// integration/bench/choices.md). While it starts, nearly all that it makes stays, so that collecting is in vain: only
	// the limit asks for it.
	servingPercent = 60
	// startingLimit is the memory in octets above which it is collected while the node starts, for as long as no more than
	// half of it lives. Beyond that the limit is twice what lives, or it would be collected without end. 100 000 names
	// need none.
	startingLimit = 1350 << 20
)

// startQuickly lets the heap grow until the function that it returns is called, which collects what the start has left,
// beside everything. Whoever sets GOGC has decided otherwise.
func startQuickly() (serve func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(-1)
	limit := &starting{before: debug.SetMemoryLimit(-1)}
	limit.follow()
	return sync.OnceFunc(func() {
		go func() {
			runtime.GC()
			limit.end()
			// sooner, it would ask for a collection by itself, which the one above would follow
			debug.SetGCPercent(servingPercent)
		}()
	})
}

// starting is the limit of memory while the node starts.
type starting struct {
	before int64 // the limit otherwise: GOMEMLIMIT, or none
	mu     sync.Mutex
	ended  bool
}

// follow sets the limit by what lives, and again after each collection until end is called.
func (s *starting) follow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetMemoryLimit(min(s.before, limitFor(live[0].Value.Uint64())))
	runtime.AddCleanup(new([64]byte), (*starting).follow, s) // garbage, which the next collection finds
}

func limitFor(live uint64) int64 { return int64(max(startingLimit, 2*live)) }

func (s *starting) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	debug.SetMemoryLimit(s.before)
}

// spread lets twice as many threads run Go code as there are cores until the function that it returns is called.
// Whoever reads queries then never waits until signing, a collection or a scrape lets go of one of the runtime's
// processors, which may take 10 ms: the kernel shares the cores among the threads, and prefers those that mostly wait.
// Whoever sets GOMAXPROCS has decided otherwise.
func spread() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	return runtime.SetDefaultGOMAXPROCS
}
