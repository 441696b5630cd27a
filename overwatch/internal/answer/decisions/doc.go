// Package decisions records the answers of load-balanced names: a bounded sample, each with its decision input, and
// complete counts by client region and backend region, and by minute. Package dnsserver records each answer; httpapi
// and history read the record. The package must not influence answers. A FileStore saves the latest samples and the
// counts of one day in a file, so that they survive a restart. The counts by minute begin with the process.
//
// A SocketRecorder is used by the one goroutine that answers the queries of a socket. Recording an answer takes a lock
// that readers hold only during a copy. It allocates only if the first answer with a key makes a map grow. A Recorder
// collects the counts of the sockets when it is read, and every 15 seconds. A Recorder is safe for concurrent use.
package decisions
