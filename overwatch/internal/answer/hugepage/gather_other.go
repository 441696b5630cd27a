//go:build !linux

package hugepage

func gather(_, _ uintptr) {}
