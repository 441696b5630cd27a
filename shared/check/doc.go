// Package check implements health checks: the description of a check (Spec), a single attempt (Prober), its result
// (Result), and the state that follows from consecutive results (Tracker). The monitor of the agent and the validation
// of the overwatch node call it.
//
// The callers schedule the checks, log and count. The package uses the standard library only. A Spec is a value.
// Several goroutines may use a Prober concurrently. A Tracker belongs to one goroutine at a time.
//
// # Healthy results
//
// tcp: the connection is established within the timeout, and the expected text, if set, is in the first MaxExpectRead
// octets.
//
// grpc: grpc.health.v1 over HTTP/2 without TLS answers SERVING.
//
// http, https: the answer to the request for path is complete, header and body, within the timeout, with a status from
// 200 to 399 (as in Route 53, HAProxy and Kubernetes) unless the Spec lists others. The body must match the Spec. The
// header has at most MaxHeader and the body at most MaxBody octets. The check follows redirects to the same scheme and
// host on the same backend, at most MaxRedirects times, so a redirect loop is a failure. A redirect to another host or
// scheme is the final answer. The check always connects to the checked address, regardless of Host and Location, and
// closes the connection after every check. By default, the certificate of https is verified against the roots of the
// system and the server name.
//
// # Unknown results
//
// A check has the outcome Unknown if this side lacks resources (file descriptors, memory, a route, an address family, a
// permission), or if this process was stopped or had no processor time for more than half of the timeout. The outcome
// proves nothing about the backend, and a Tracker ignores it.
package check
