//go:build !linux

package harness

import "syscall"

// OwnGroup gives a program a process group of its own. It cannot tie a program's life to the harness on this system: after SIGKILL to the harness it stays.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
