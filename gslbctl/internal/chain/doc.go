// Package chain owns the validation of a zone's chain of trust as a validating resolver does it
// (RFC 4035 section 5): from the parent's DS records to the zone's keys, and from these to the
// signatures of its answers, server by server. gslbctl dnssec check calls it. It never caches an
// answer and never changes a zone.
package chain
