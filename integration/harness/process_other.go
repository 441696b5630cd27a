//go:build !linux

package harness

import "syscall"

// tie does nothing, because this system cannot tie programs to the harness: they continue after SIGKILL to the harness.
func tie(*syscall.SysProcAttr) {}
