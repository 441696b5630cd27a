// Package dnsserver answers DNS queries from a view: it owns the sockets, the reading of queries, EDNS, truncation and
// cookies. The root makes and runs one Server. Package zone has the answers of names; nothing here decides them, or
// waits for anything but the network.
//
// responder.reply builds each reply in steps: header and question, the answer and authority sections, which package
// zone appends, and the additional section (OPT and TSIG records). A query that no view answers (another opcode, an
// error in its form, a transfer) gets its outcome from responder.refuse. The reply to a lookup allocates nothing. A
// fuzz test compares the replies with those of an oracle that packs its records with miekg/dns.
//
// Each UDP socket is read by one goroutine with a responder of its own; there is a socket per core and address, and the
// kernel spreads clients over them (SO_REUSEPORT). TCP connections share one responder per server.
//
// Queries that come faster than they are answered wait in the socket's receive buffer, and the kernel drops what does
// not fit. Once the buffer is nearly full, queries that have waited too long are given up: answers are few then, but
// not too late.
//
// Sockets with SO_REUSEPORT share their port with any process of the same user that sets the option: a second node
// started by mistake would silently take half of the queries. So New first binds each port without the option, which
// fails if another process has it, and then opens the sockets with it. A restart therefore ends the old process before
// it starts the new one.
package dnsserver
