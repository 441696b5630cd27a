// Package api is the contract of the overwatch HTTP API: its JSON types, the
// closed vocabularies of its status fields, its limits, its error body, and a
// typed client.
//
// The server encodes these types and gslbctl decodes them, so a field exists
// once. The package knows nothing of how a node arrives at a value, and uses
// the standard library only. Types are plain data: once handed over, a value
// belongs to the receiver. A Client may be used by many goroutines at once.
package api
