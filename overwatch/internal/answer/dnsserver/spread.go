package dnsserver

import (
	"os"
	"runtime"
)

// SpreadThreads lets twice as many threads run Go code as there are cores, until restore is called and unless
// GOMAXPROCS is set in the environment. Call it after New, which opens a socket per core. The goroutines that answer
// queries then need not wait until signing, a collection or a scrape lets go of one of the runtime's processors, which
// may take 10 ms: the kernel shares the cores among the threads, and prefers those that mostly wait.
func SpreadThreads() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	return runtime.SetDefaultGOMAXPROCS
}
