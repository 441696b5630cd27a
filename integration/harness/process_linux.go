package harness

import "syscall"

// tie asks the kernel to kill a program when the thread that starts it ends, so that not even SIGKILL to the harness
// leaves one behind.
func tie(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
