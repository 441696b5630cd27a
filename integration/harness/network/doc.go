// Package network makes real networks for tests: sites with addresses, routes and ports of their own, joined by a
// router. What loopback cannot show is there: packets with a source, several addresses on a machine, both families, a
// path MTU, NAT, and a network that loses, delays or refuses what it carries.
//
// A site is a network namespace that has no name: it lives as long as this process holds it or a program runs in it,
// and the programs of the harness end with this process. So nothing is left behind, however the process ends, and
// nothing outside is touched. It takes Linux, the right to make network namespaces (root, or a user namespace: see
// Enter), and the programs ip and nft.
package network
