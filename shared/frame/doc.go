// Package frame owns the wire format of memberlist and reads it strictly: the label before a packet
// or stream, its encryption, and the framing and types of the messages inside. Agents and overwatch
// nodes pass every packet and stream through it before memberlist gets them.
//
// It exists because memberlist trusts everyone who has the key: a well-encrypted message that is
// empty, badly padded or endlessly compressed crashes its process, and one small header makes it
// allocate 120 MiB. Behind this package memberlist sees only messages that another memberlist could
// have sent.
//
// It refuses some messages that memberlist accepts and gslb never sends: encryption version 0,
// compression, nested compound messages and indirect pings.
//
// It also encodes the two answers that an overwatch node gives to 10 000 agents again and again, the
// acknowledgement of a ping and the answer to a push/pull, in the octets that memberlist would send
// and at a fraction of the cost.
//
// It never tracks membership and never reads user messages. A Keyring is immutable, so any goroutine
// may use it.
package frame
