// Package api defines the overwatch HTTP API: its JSON types, the values of its status fields, its limits, its error
// body, and a typed client.
//
// The server encodes these types and gslbctl decodes them, so each field is declared once. The package computes only
// the hash of an audit entry and the forms of addresses and times, and uses the standard library only. Types are plain
// data: a value belongs to its receiver. Several goroutines may use a Client concurrently.
package api
