// Package wire implements the protocol between agents and overwatch nodes: the messages, their limits and their binary
// codec. Both programs call it.
//
// Package identity seals messages in an envelope, and memberlist transports them. The package has no state and starts
// no goroutine, and any goroutine may use it. A message value belongs to the caller of its decoder.
//
// # Encoding
//
// A message is a sequence of fields in ascending order of their numbers. A field is a key and a value. The key is an
// unsigned varint: field number x 2 + kind. Kind 0 has an unsigned varint as value. Kind 1 has a length (varint) and
// the same number of octets: text, an address, or a nested message. The codec omits a field with its zero value, and
// writes a repeated field once per element.
//
// A value has exactly one encoding: varints are minimal, and a known field appears at its position, once, and never
// with its zero value. Only octets of a fixed number may be all zero or omitted, with the same meaning. The codec
// rejects any other encoding. It skips fields with unknown numbers, so a later minor version may add fields. It checks
// rejects any other encoding. It skips fields with unknown numbers, so a later minor version may add fields. It checks
//
// # Versions
//
// The protocol has a major and a minor number, both in the envelope. Programs reject another major number and accept
// another minor number. PROTOCOL.md lists the changes; golden frames of every released version are in testdata.
package wire
