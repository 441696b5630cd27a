// Package gossip owns the sockets at which agents and other nodes reach an overwatch node. It runs memberlist over a
// transport of its own, queues the agents' sealed messages within bounds, has trust open them, applies them to the
// registry, and answers. The root runs one Node.
//
// The transport (transport*.go) drops and counts all packets and streams of other forms before memberlist sees them.
// Agents' messages are taken out here and never enter memberlist: its queue delivers the newest first and loses the
// source address, and the source of a message with a valid signature is the best address for the answer. memberlist
// answers the pings and push/pulls of overwatch nodes and keeps their membership.
//
// The package decides neither who is believed (trust) nor what a claim means (registry).
//
// Concurrency: the transport's readers block on nothing but their sockets. Messages of one agent are handled one after
// the other, by importance and then by arrival; those of different agents concurrently.
package gossip
