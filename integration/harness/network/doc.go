// Package network creates real networks for tests: sites with separate addresses, routes and ports, joined by a router.
// The networks have properties that loopback lacks: packets with a source, several addresses per machine, both
// families, a path MTU, NAT, and loss, delay or rejection of packets.
//
// A site is a network namespace without a name: it exists while this process has it open or a program runs in it. The
// programs of the harness end with this process. Therefore no namespace remains after the process, and the networks of
// the machine stay unchanged. The package requires Linux, the right to create network namespaces (root, or a user
// namespace: see Enter), and the programs ip and nft.
package network
