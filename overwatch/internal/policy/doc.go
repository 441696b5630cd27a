// Package policy decides which of a name's backends answer a query and how the answers are shared out among them.
// Everything here is a pure function of its arguments: no clock, no randomness, no I/O, so that the decision which
// answers a client is the same one that explains itself to an operator. Values are immutable once made and may be
// read from any goroutine; a Scheduler belongs to one goroutine.
package policy
