// Package decisions keeps what became of steered queries: a bounded sample of answers, each with all that it followed
// from, and counts of where clients were sent, which are not sampled.
//
// A Socket belongs to one goroutine that answers queries. Noting an answer takes a lock that nobody else holds for
// longer than a copy takes, and allocates nothing. A Recorder sums the sockets up when somebody reads it, and every
// five seconds. It may be used from any goroutine.
package decisions
