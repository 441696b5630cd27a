// Package wire is what agents and overwatch nodes say to each other: the messages, their limits and their binary codec.
//
// It is not the envelope (package identity signs and checks that), nor the transport (memberlist). It holds no state, starts
// nothing and may be used from any number of goroutines; a message value belongs to whoever decoded it.
//
// # Encoding
//
// A message is a sequence of fields in ascending order of their numbers. A field is a key and a value. The key is an
// unsigned varint, field number x 2 + kind; kind 0 is followed by an unsigned varint, kind 1 by a length (varint) and that many
// octets: text, an address, or a nested message. A field at its zero value is left out, a repeated field is written once per
// element. One value has exactly one encoding: varints are minimal, a known field appears in its place, once, and never
// with its zero value; anything else is refused. Fields with unknown numbers are skipped, so a later minor version may add some.
// Every size and count is compared with its limit before anything is allocated for it.
//
// # Versions
//
// The protocol has a major and a minor number, both in the envelope. A different major number is refused, a different minor
// number is not. What changed when stands in PROTOCOL.md; golden frames of every released version are in testdata.
package wire
