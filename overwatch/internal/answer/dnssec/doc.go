// Package dnssec owns the signing keys of the zones: it creates them, stores them in BIND's file format, derives
// DNSKEY, DS, CDS and CDNSKEY records, and signs RRsets. Package publish requests the Signer of each zone; keysync
// merges the keys of other nodes; package roll decides the steps of a key rollover.
//
// A zone usually has one combined signing key (flags 257) of algorithm 13, ECDSAP256SHA256, or 15, ED25519. Further
// keys are published, and sign if a rollover requires it.
//
// Keys and Signers are immutable. Keys, Signers and Zones are safe for concurrent use. The package must not schedule
// signing or depend on the contents of zones: package publish decides which RRsets to sign, and when.
package dnssec
