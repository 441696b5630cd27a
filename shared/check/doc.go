// Package check owns health checks: the description of a check (Spec), a single attempt (Prober), its
// result (Result), and the state that follows from a row of results (Tracker). The agent's monitor and
// the overwatch node's validation call it.
//
// It never decides when to check, never logs and never counts. It uses the standard library only. A
// Spec is a value. Several goroutines may use a Prober concurrently. A Tracker
// belongs to one goroutine at a time.
//
// # What is treated as healthy
//
// tcp: the connection is established within the timeout, and the expected text,
// if there is one, comes within the first MaxExpectRead octets.
//
// grpc: grpc.health.v1 over HTTP/2 without TLS answers SERVING.
//
// http, https: the request for path is answered completely, header and body, within the
// timeout, with a status from 200 to 399 (as in Route 53, HAProxy and
// Kubernetes) unless the Spec names others. The body must be as the Spec says.
// The header has at most MaxHeader and the body at most MaxBody octets.
// A redirect that stays on the same scheme and host is followed on the
// same backend, at most MaxRedirects times, so a redirect loop is a failure; a
// redirect that leads elsewhere is not followed and is treated as the answer. The
// connection is always made to the checked address, whatever Host or Location
// say, and is closed after every check. For https the certificate is verified
// against the system's roots and the server name unless the Spec says otherwise.
//
// # What is treated as nobody's fault
//
// A check that could not be made for lack of something on this side (file
// descriptors, memory, a route, an address family, a permission), or that was
// stopped or held up by this process itself (for more than half of its timeout),
// has the outcome Unknown. It says
// nothing about the backend, and a Tracker ignores it.
package check
