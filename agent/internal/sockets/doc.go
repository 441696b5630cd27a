// Package sockets lists the listening TCP sockets of this machine's network namespace. The monitor polls it to detect
// the end of a local application between two health checks.
//
// On Linux it queries the kernel by sock_diag(7), which returns only listening sockets, so that the cost is independent
// of the number of connections. The application does not notice the query. On other systems Open returns
// errors.ErrUnsupported. A missing socket only causes a check; the check decides whether the backend is healthy.
package sockets
