//go:build unix

package agent

import (
	"os"
	"os/signal"
	"syscall"
)

// handovers returns a channel that receives SIGUSR2: the request to exit and hand over the backends to the next
// process. stop ends the delivery of the signal; the channel stays open.
func handovers() (requests <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	return signals, func() { signal.Stop(signals) }
}
