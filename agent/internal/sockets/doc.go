// Package sockets lists the listening TCP sockets of this machine's network namespace. The monitor polls it to detect
// the end of a local application between two health checks.
//
// On Linux it asks the kernel by sock_diag(7), which returns listening sockets only and therefore costs the same on a
// machine with many connections. The application notices nothing. On other systems Open returns errors.ErrUnsupported.
// The package must not decide whether a backend is healthy: a missing socket only causes a check.
package sockets
