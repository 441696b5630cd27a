package frame

// Kind is the type of a memberlist message.
type Kind uint8

// The message types of memberlist 0.7.0. The numbers are its wire protocol.
const (
	Ping     Kind = 0
	Ack      Kind = 2
	Suspect  Kind = 3
	Alive    Kind = 4
	Dead     Kind = 5
	PushPull Kind = 6
	compound Kind = 7
	User     Kind = 8
	checksum Kind = 12
	Error    Kind = 13
)

// Kinds is a set of message types.
type Kinds uint16

// Of makes a set.
func Of(kinds ...Kind) (set Kinds) {
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Within reports whether every type of the set is also in other.
func (s Kinds) Within(other Kinds) bool { return s&^other == 0 }

// Has reports whether the type is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }

// Packet is what a packet holds. Its slices point into the plain text.
type Packet struct {
	Kinds      Kinds  // every message type inside
	User       []byte // the user message, if there is one
	SourceNode []byte // a ping: the name that its sender goes by
	AckPayload []byte // an acknowledgement: its payload
}

// Stream is what a stream holds. Its slices point into the plain text.
type Stream struct {
	Kind Kind
	User []byte // a user message
}
