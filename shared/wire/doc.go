// Package wire owns the protocol between agents and overwatch nodes: the messages, their limits and
// their binary codec. Both programs call it.
//
// It never signs (package identity seals messages in an envelope) and never sends (memberlist is the
// transport). It holds no state and starts no goroutine, and any goroutine may use it. A message value
// belongs to its decoder's caller.
//
// # Encoding
//
// A message is a sequence of fields in ascending order of their numbers. A field is a key and a value.
// The key is an unsigned varint: field number x 2 + kind. After kind 0 there is an unsigned varint.
// After kind 1 there is a length (varint) and that many octets: text, an address, or a nested message.
// A field at its zero value is omitted. A repeated field is written once per element.
//
// One value has exactly one encoding: varints are minimal, and a known field appears in its place,
// once, and never with its zero value; octets of a fixed number may be all zero, or omitted, which
// means the same. Anything else is refused. Fields with unknown numbers are skipped, so a later minor
// version may add some. Every size and count is checked against its limit before memory is allocated
// for it.
//
// # Versions
//
// The protocol has a major and a minor number, both in the envelope. A different major number is
// refused, a different minor number is not. PROTOCOL.md lists the changes; golden frames of every
// released version are in testdata.
package wire
