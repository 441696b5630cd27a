// Package querylog writes queries with their results to a file of JSON lines. Package dnsserver selects the queries and
// passes them to a Worker; the root runs the Log. The package must not delay answers.
//
// A Worker belongs to one goroutine that answers queries. Worker.Record copies an entry into the queue of the worker,
// whose size is fixed. It does not wait, allocate or perform system calls, and drops entries if the queue is full.
// Log.Run is the only reader of the queues. It repeats the decision of each entry, writes the lines and rotates the
// file. If the file cannot be written, Run drops the lines, counts them and reports the reason.
package querylog
