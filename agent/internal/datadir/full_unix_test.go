//go:build unix

package datadir // inside: schema_test.go shares its helpers

import (
	"os/signal"
	"syscall"
)

// onlySmallFiles lets this process write no file beyond 2000 octets, as a disk does that is almost full.
func onlySmallFiles() {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2000, Max: 2000}); err != nil {
		panic(err)
	}
}
