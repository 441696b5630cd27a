// Package gossip owns the sockets at which agents and other nodes reach an overwatch node. It runs memberlist over its
// own transport, queues sealed messages of agents within bounds, passes them to trust and registry, and answers. The
// root runs one Node.
//
// The transport (transport*.go) drops and counts foreign packets and streams before memberlist receives them. Messages
// of agents never enter memberlist: its queue delivers the latest message first and loses the source address, which is
// the address for the answer. memberlist answers pings and push/pulls of overwatch nodes and maintains their
// membership.
//
// The package must not decide whether a message is authentic (trust) or how a report affects a backend (registry).
//
// Concurrency: the readers of the transport block only on their sockets. Messages of an agent are handled one at a
// time, in the order of queue class and arrival. Messages of different agents are handled concurrently.
package gossip
