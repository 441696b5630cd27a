package harness

import "syscall"

// tie makes the kernel kill a program at the end of the thread that started it, so that no program remains even after
// SIGKILL to the harness.
func tie(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
