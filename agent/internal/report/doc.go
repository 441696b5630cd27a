// Package report owns the conversations with the overwatch nodes. It introduces the agent to every
// configured node, proves the tokens of its services, sends heartbeats and changes, and handles the
// answers. Package agent runs it.
//
// Each node has a link (link.go): Hello, Enrol, then heartbeats and transitions, each repeated
// until it is acknowledged or superseded. Links share only the sequence number, so a dead node delays
// no other. Each link uses a peer: a memberlist instance with a transport that only dials out and has
// one address.
//
// The agent authenticates a node by its certificate, which it pins at first use (pins.go). With only
// the gossip key, an attacker can cause an extra Hello and nothing more.
//
// The package never makes a check; a function supplies the state of the backends. All timers are
// monotonic.
package report
