// Package frame reads what memberlist puts on the wire, strictly: the label in front of a packet or stream, its
// encryption, and the framing and types of the messages inside. It exists because memberlist itself trusts whoever
// holds the key: a well-encrypted message that is empty, badly padded or compressed without end stops its process,
// and one small header makes it allocate 120 MiB. Both sides of gslb look at every packet and stream through this
// package before memberlist does, so that memberlist only ever sees messages that another memberlist could have sent.
//
// What it refuses although memberlist would take it: encryption version 0, compression, nested compound messages and
// indirect pings, none of which gslb sends.
//
// What an overwatch node answers to 10 000 agents again and again, it writes itself: the acknowledgement of a ping and the answer to a
// push/pull, in the octets that memberlist would send, at a fraction of the cost.
//
// It does no membership and knows nothing of what user messages contain. A Keyring is immutable and may be used by any
// number of goroutines.
package frame
