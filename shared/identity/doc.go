// Package identity owns the cryptographic identities of agents and nodes: the Ed25519 key and
// self-signed certificate, the sealed envelope around each message, the session that replaces most
// signatures between two processes, the window against replays, and the proof of a service's token.
// Agents and overwatch nodes call it.
//
// It never decides trust: overwatch's package trust decides which certificate may speak for which
// service, and the agent which node certificate it accepts. An Identity is immutable, so any
// goroutine may use it. A Window belongs to its owner, who guards it.
package identity
