package hugepage

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// gather has the kernel do it. The addresses are whole huge pages of memory that the caller holds. Both calls are advice: the first is for
// what has not been written to yet, the second, which Linux has since 6.1, for what has.
func gather(address, length uintptr) {
	_, _, _ = syscall.Syscall(unix.SYS_MADVISE, address, length, unix.MADV_HUGEPAGE)
	_, _, _ = syscall.Syscall(unix.SYS_MADVISE, address, length, unix.MADV_COLLAPSE)
}
