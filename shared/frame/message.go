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
	Target     []byte // a ping: the name of the node that is meant, empty for whoever gets it
	Sequence   uint32 // a ping: its number
	ReplyPort  uint16 // a ping: where at another address its sender wants the answer; 0: where the packet came from
	Single     bool   // it is one message, not several in one
	AckPayload []byte // an acknowledgement: its payload
}

// Stream is what a stream holds. Its slices point into the plain text.
type Stream struct {
	Kind Kind
	User []byte // a user message
	// Listening says of a push/pull that it names a node that could be dialled. Agents name none.
	Listening bool
	// Announced is the name of the first node that a push/pull names: of an agent, AgentName.
	Announced string
}
