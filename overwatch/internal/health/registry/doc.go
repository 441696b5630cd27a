// Package registry owns the backends: their declarations, the claims of agents, the verdicts of this node's own checks,
// the orders of operators, and the effective status that follows from all of it.
//
// Messages of agents come in from gossip, verdicts from validation, orders from httpapi, and declarations from control
// and inventory, all as calls. State that must outlive the process goes out through StatusStore. The package does no
// I/O of its own, and knows nothing about DNS names, routing or HTTP.
//
// Concurrency: one goroutine, Run, owns everything that changes. Each command is sent to it and returns when it has
// been applied and published. Readers use View, which takes no lock and never waits: every *Backend and every slice
// that it hands out is immutable.
package registry
