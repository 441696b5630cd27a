package overwatch

import (
	"os"
	"runtime"
	"runtime/debug"
)

// How far the heap may grow beyond what lives, in percent, before it is collected. While the node starts, nearly all that
// it makes stays, so that collecting is in vain: at 100 % it is a quarter of the start with 100 000 names. Later, little is
// made and a collection is rare, so that a small heap costs next to nothing. Both were measured: integration/bench/README.md.
const (
	startingPercent = 300
	servingPercent  = 60
	// startingLimit is the memory in octets above which it is collected nevertheless while the node starts.
	startingLimit = 1200 << 20
)

// startQuickly lets the heap grow until the function that it returns is called. Whoever sets GOGC has decided otherwise.
func startQuickly() (serve func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(startingPercent)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, startingLimit))
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(servingPercent)
		go runtime.GC() // at once and beside everything, instead of when the first queries happen to make something
	}
}

// spread lets twice as many threads run Go code as there are cores until the function that it returns is called. Whoever reads
// queries then never waits until signing, a collection or a scrape lets go of one of the runtime's processors, which may take
// 10 ms: the kernel shares the cores among the threads, and prefers those that mostly wait. Whoever sets GOMAXPROCS has
// decided otherwise.
func spread() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	return runtime.SetDefaultGOMAXPROCS
}
