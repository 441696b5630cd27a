// Package dnsserver answers DNS queries from a view. It owns the sockets, and implements parsing, EDNS, truncation,
// cookies and response rate limiting. The root creates and runs one Server. Package zone provides the answers of names.
// The package must not make routing decisions, and must not wait for anything except the network.
//
// responder.reply builds each reply in steps: header and question, the answer and authority sections from package zone,
// and the additional section (OPT and TSIG records). For a query that a view cannot answer (another opcode, a format
// error, a transfer), responder.refusedOutcome determines the reply. The reply to a lookup does not allocate. A fuzz
// test compares the replies with the replies of an oracle that uses miekg/dns.
//
// One goroutine with its own responder reads each UDP socket. There is a socket for each core and address, and the
// kernel distributes clients between them (SO_REUSEPORT). All TCP connections share one responder.
//
// Excess queries wait in the receive buffer of the socket, and the kernel drops queries that do not fit. When the
// buffer is nearly full, the socket discards queries that have waited too long: an overloaded node sends fewer answers,
// but in time.
//
// A port with SO_REUSEPORT can be shared by each process of the same user that sets the option. A second node, started
// by mistake, would then receive half of the queries. New therefore first binds each port without the option, which
// fails if another process uses the port, and then opens the sockets. A restart must stop the old process and then
// start the new process.
package dnsserver
