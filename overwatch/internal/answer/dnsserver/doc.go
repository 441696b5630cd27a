// Package dnsserver answers DNS queries from a view: it owns the sockets, the reading of queries, EDNS, truncation and
// cookies. What a name answers is package zone's; nothing here waits for anything but the network.
//
// Two paths answer. The fast one takes the common query by hand, copies packed records behind its question and patches
// them; it allocates nothing. Everything else takes the slow one, which is written to be read. Where both can answer,
// they give the same octets, and a fuzz test holds them to it.
//
// Each UDP socket is read by one goroutine with a responder of its own; there is a socket per core and address, and the
// kernel spreads clients over them (SO_REUSEPORT). TCP connections share one responder per server.
//
// Queries that come faster than they are answered wait in the kernel, which drops those that it has no room for. A
// socket that runs over gives up queries that have waited too long and keeps less room: answers are few then, but not
// too late.
//
// Sockets with SO_REUSEPORT share their port with whoever else asks for that under the same user: a second node started
// by mistake would silently take half of the queries. So New first binds each port as somebody who does not share,
// which fails if anybody has it, and only then opens the sockets that do. So a restart ends the old process before it
// starts the new one.
package dnsserver
