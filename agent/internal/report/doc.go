// Package report tells overwatch nodes what the agent knows. It introduces the agent to every configured node, proves
// its services' tokens, sends heartbeats and changes, and learns from the answers what it did wrong.
//
// One link per node (link*.go) holds a conversation: Hello, Enrol, then heartbeats and transitions, each until it is
// acknowledged, repeated or superseded. Links share nothing but the sequence number, so a dead node delays no other. Under a link
// lies a peer: one memberlist instance whose transport only dials out and knows one address.
//
// The agent believes a node by its certificate, which it pins at first use (pins.go). Whoever merely holds the gossip key can
// make a link say Hello once too often, and nothing more.
//
// The package knows nothing of checks; the state of the backends comes from a function. All timers are monotonic.
package report
