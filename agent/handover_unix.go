//go:build unix

package agent

import (
	"os"
	"os/signal"
	"syscall"
)

// handovers returns a channel of SIGUSR2, the request to stop and hand over the backends to the next process. stop
// closes it.
func handovers() (requests <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	return signals, func() { signal.Stop(signals) }
}
