// Package roll decides when a zone may go from one signing key to another (RFC 6781 section 4.1), on several equal
// nodes and without a leader. Each node keeps the Progress of its own, hears that of the others with their keys, asks
// the parent's servers for the zone's DS records, and takes a step when Next says that it breaks no answer which a
// resolver may hold. dnssec calls it and does what a stage says.
//
// The package is pure: it reads no clock, no file and no network.
package roll
