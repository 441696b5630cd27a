// Package dnssec owns the signing keys of the zones: it makes them, keeps them on disk in BIND's file format, derives
// DNSKEY, DS, CDS and CDNSKEY from them, and signs RRsets. publish asks it for the Signer of each zone, keysync joins
// the keys of other nodes.
//
// A zone has one combined signing key as a rule (flags 257), of algorithm 13, ECDSAP256SHA256, or 15, ED25519. Further
// keys are published, and sign where a change of key needs it. Package roll says when.
//
// Keys and Signers are immutable and may be used from any goroutine. The package never schedules signing and knows
// nothing of a zone's contents: publish decides what is signed and when.
package dnssec
