// Package report implements the communication with the overwatch nodes. It introduces the agent to every configured
// node, proves the tokens of its services, sends heartbeats and changes, and handles the answers. Package agent runs
// it.
//
// Each node has a link (link.go): Hello, Enrol, then heartbeats and transitions. Each message is repeated until it is
// acknowledged or superseded. Links share only the sequence number, so an unreachable node does not delay other nodes.
// Each link uses a peer: a memberlist instance with a transport that only dials a single address.
//
// The agent authenticates a node by its certificate, which it pins at first use (pins.go). With only the gossip key, an
// attacker can only cause an extra Hello.
//
// The package does not check backends; a function supplies their state. All timers are monotonic.
package report
