// Package frame implements the wire format of memberlist and parses it strictly: the label before a packet or stream,
// its encryption, and the framing and types of the messages inside. Agents and overwatch nodes validate every packet
// and stream with it before memberlist receives them.
//
// It is necessary because memberlist trusts every sender that has the key: a well-encrypted message that is empty,
// badly padded or endlessly compressed crashes its process, and a small header makes it allocate 120 MiB. With this
// package, memberlist receives only messages that another memberlist could have sent.
//
// It rejects some messages that memberlist accepts and gslb never sends: encryption version 0, compression, nested
// compound messages and indirect pings.
//
// It also encodes the two answers that an overwatch node sends to up to 10 000 agents, the acknowledgement of a ping
// and the answer to a push/pull. The octets are the same as from memberlist, at a fraction of the cost.
//
// It does not track membership or parse user messages. A Keyring is immutable, so any goroutine may use it.
package frame
