// Package registry is the one place that knows the backends: who declared them, what agents claim about them, what
// this node's own checks found, what an operator ordered, and the effective status that follows from all of it.
//
// It does no I/O of its own: agents' messages, verdicts and orders come in as calls, what must outlive the process goes
// out through two small interfaces. It knows nothing about DNS names, routing or HTTP.
//
// Concurrency: one goroutine, Run, owns everything that changes. Each command is sent to it and returns when it has
// been applied and published. Readers use View, which takes no lock and never waits: every *Backend and every slice
// that it hands out is immutable.
package registry
