// Package policy decides which of a name's backends answer a query, and how the answers are shared out among them.
// publish decides names with it, explain repeats its decisions, and config checks settings by its algorithms.
//
// It owns no state. Decisions are pure functions: no clock, no randomness, no I/O, so that the decision which answers a
// client is the one that is explained to an operator. Values are immutable once made and may be read from any
// goroutine; an Atlas and a Scheduler keep results and may be used from any goroutine too.
package policy
