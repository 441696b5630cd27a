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

// Of returns the set of the given types.
func Of(kinds ...Kind) (set Kinds) {
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Within reports whether other contains every type of the set.
func (s Kinds) Within(other Kinds) bool { return s&^other == 0 }

// Has reports whether the type is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }

// Packet is the content of a packet. Its slices point into the plain text.
type Packet struct {
	Kinds      Kinds  // every message type inside
	User       []byte // the user message, or nil
	SourceNode []byte // of a ping: the name of its sender
	Target     []byte // of a ping: the name of the node to ping; empty: any node
	Sequence   uint32 // of a ping: its number
	ReplyPort  uint16 // of a ping: the port for the answer; 0: the source port of the packet
	Single     bool   // one message, not a compound
	AckPayload []byte // of an acknowledgement: its payload
}

// Stream is the content of a stream. Its slices point into the plain text.
type Stream struct {
	Kind Kind
	User []byte // a user message
	// Listening is true for a push/pull with a node that has a port. Agents send none.
	Listening bool
	// Announced is the name of the first node in a push/pull. For an agent it is AgentName.
	Announced string
}
