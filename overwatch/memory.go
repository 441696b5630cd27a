package overwatch

import (
	"os"
	"runtime/debug"
)

// How far the heap may grow beyond what lives, in percent, before it is collected. While the node starts, nearly all that
// it makes stays, so that collecting is in vain: at 100 % it is a quarter of the start with 100 000 names. Later, little is
// made and a collection is rare, so that a small heap costs next to nothing. Both were measured: integration/bench/README.md.
const (
	startingPercent = 300
	servingPercent  = 60
)

// startQuickly lets the heap grow until the function that it returns is called. Whoever sets GOGC has decided otherwise.
func startQuickly() (serve func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(startingPercent)
	return func() { debug.SetGCPercent(servingPercent) }
}
