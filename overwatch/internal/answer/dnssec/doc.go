// Package dnssec owns the signing keys of the zones: it makes them, keeps them on disk in BIND's file format, derives
// DNSKEY, DS, CDS and CDNSKEY from them, and signs RRsets.
//
// One combined signing key per zone (flags 257) of algorithm 13, ECDSAP256SHA256 (RFC 6605), is the rule; further
// keys of a zone are published, and sign too where a change of key needs it.
//
// Keys and key sets are immutable once loaded and may be used from any goroutine. The package neither schedules
// signing nor knows what a zone contains: publish decides what is signed and when.
package dnssec
