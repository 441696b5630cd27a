package harness

import "syscall"

// OwnGroup gives a program a process group of its own, so that a terminal's Ctrl-C reaches the harness only. It also asks the kernel to
// kill the program when the thread that started it dies, so that not even SIGKILL to the harness leaves one behind. Go keeps its threads
// until the process ends unless a goroutine exits while locked to one: whoever starts a program on such a thread keeps it until the program
// has ended.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
