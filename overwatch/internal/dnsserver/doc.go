// Package dnsserver answers DNS queries from a view: it owns the sockets, the reading of queries, EDNS, truncation and
// cookies. What a name answers is package zone's; nothing here waits for anything but the network.
//
// Two paths answer. The fast one takes the common query by hand, copies packed records behind its question and patches them;
// it allocates nothing. Everything else takes the slow one, which is written to be read. Where both can answer, they give
// the same octets, and a fuzz test holds them to it.
//
// Each UDP socket is read by one goroutine with a responder of its own; there is a socket per core and address, and the kernel
// spreads clients over them (SO_REUSEPORT). TCP connections share one responder per server. The port belongs to one process: New fails if
// any other socket has it, before it opens sockets that would share it silently.
package dnsserver
