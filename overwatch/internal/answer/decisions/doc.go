// Package decisions owns the record of the answers of steered names: a bounded sample of them, each with the basis of
// its decision, and unsampled counts of the regions that clients were sent to. dnsserver notes each answer; httpapi and
// the history of metrics read. It never changes an answer. A Keeper stores the latest samples and the counts of a day
// in a file, so that they survive a restart.
//
// A Socket belongs to one goroutine that answers queries. Noting an answer takes a lock that readers hold only while
// they copy, and allocates only where the first answer of a key makes a map grow. A Recorder sums the sockets up when
// it is read, and every 15 seconds. It may be used from any goroutine.
package decisions
