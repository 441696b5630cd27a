// Package decisions keeps what became of steered queries: a bounded sample of real answers, each with all that it
// followed from, and counts of from where to where clients were sent, which are not sampled.
//
// A Socket belongs to one goroutine that answers queries; noting an answer takes no lock, waits for nothing and allocates
// nothing. A Recorder sums the sockets up when somebody looks, and every five seconds. It may be used from any goroutine.
package decisions
