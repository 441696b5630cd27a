// Package identity says who speaks: the Ed25519 key and self-signed certificate of an agent or node, the sealed envelope
// around each message, the session that spares two processes most signatures, the window that refuses what was seen before, and
// the proof that a sender knows a service's token.
//
// It is not the trust decision: which certificate may speak for which service is for overwatch's package trust, and which node
// certificate an agent believes is for the agent. An Identity is immutable and may be used from any number of goroutines; a
// Window belongs to its owner, who guards it.
package identity
