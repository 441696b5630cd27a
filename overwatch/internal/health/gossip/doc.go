// Package gossip takes what agents send to an overwatch node. It runs memberlist behind a door of its own, takes the
// agents' sealed messages into a bounded queue, has them opened by trust, applies them to the registry, and answers.
//
// The door (door*.go) is memberlist's transport: whatever is not one of our packets or streams is dropped and counted
// before memberlist sees it. Packets and streams that carry an agent's message do not enter memberlist at all: its
// queue hands the newest over first and forgets where a message came from, and the source of a message whose signature
// held is the best address to answer to. memberlist keeps what it is good at: answering pings, push/pull (which carries
// our Hello) and membership among overwatch nodes.
//
// The package decides neither who is believed (trust) nor what a claim means (registry).
//
// Concurrency: the door's readers never block on anything but their sockets. Messages of one agent are handled one
// after the other, in the order of their importance and then of their arrival; those of different agents side by side.
package gossip
