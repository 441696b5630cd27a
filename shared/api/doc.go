// Package api owns the contract of the overwatch HTTP API: its JSON types, the closed vocabularies
// of its status fields, its limits, its error body, and a typed client.
//
// The server encodes these types and gslbctl decodes them, so each field is declared once. The
// package computes nothing but the hash of an audit entry and the forms of addresses and times, and
// uses the standard library only. Types are plain data: once handed over, a value belongs to the
// receiver. Many goroutines may use a Client concurrently.
package api
