//go:build !linux

package harness

import "syscall"

// ownGroup cannot tie a program's life to the harness on this system: after SIGKILL to the harness it stays.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
