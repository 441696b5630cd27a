package dnsserver

import (
	"os"
	"runtime"
)

// SpreadThreads doubles GOMAXPROCS until restore is called, unless the environment sets GOMAXPROCS. Call it after New,
// which opens a socket per core. Goroutines that answer queries then do not wait, for up to 10 ms, until signing,
// garbage collection or a scrape yields: the kernel schedules the threads, and prefers threads that mostly wait.
func SpreadThreads() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	return runtime.SetDefaultGOMAXPROCS
}
