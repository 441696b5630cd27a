//go:build !linux

package service

import "syscall"

// Keep does nothing: no service manager of this system stores sockets.
func Keep(string, []syscall.Conn) error { return nil }

// Release does nothing: Keep stores no sockets.
func Release(string) error { return nil }
