// Package roll decides the steps of a key rollover (RFC 6781 section 4.1) and of a transition between a signed and an
// unsigned zone, on several equal nodes without a leader. Each node has its own Progress, receives the Progress of
// other nodes with their keys, and queries the parent's servers for the DS records of the zone. It takes a step if Next
// shows that the step breaks no cached answer. Package dnssec calls the package and applies the stages.
//
// The package is pure: it must not have state, or read clocks, files or the network. Values are not safe for concurrent
// changes.
package roll
