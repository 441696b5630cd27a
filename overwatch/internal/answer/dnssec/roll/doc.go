// Package roll decides when a zone may go from one signing key to another (RFC 6781 section 4.1), or between signed and
// unsigned, on several equal nodes and without a leader. Each node keeps a Progress of its own, hears those of the
// others with their keys, and asks the parent's servers for the zone's DS records. It takes a step when Next says that
// the step breaks no answer which a resolver may hold. dnssec calls the package and does what a stage says.
//
// The package is pure: it owns no state, and reads no clock, no file and no network.
package roll
