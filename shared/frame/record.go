package frame

// kind is the msgpack type of a field.
type kind uint8

const (
	integer kind = iota
	octets
	boolean
)

// field describes one field of a memberlist struct: max is the largest integer, or the most octets.
type field struct {
	name string
	kind kind
	max  uint64
}

// record describes one memberlist struct.
type record []field

// value is the content of a field. Absent fields are zero, as in memberlist.
type value struct {
	octets  []byte
	integer uint64
}

const (
	maxName        = 255     // longest name of a node, in octets
	maxMeta        = 512     // memberlist.MetaMaxSize
	maxAddress     = 16      // an IPv6 address
	maxIncarnation = 1 << 31 // beyond it memberlist's arithmetic could wrap around
	// bound of suspect and dead, so that the higher incarnation that refutes them stays below maxIncarnation
	maxAccused  = 1 << 30
	maxNodes    = 64  // overwatch nodes that one push/pull may list
	maxPayload  = 512 // an acknowledgement's payload; gslb sends 16 octets
	versions    = 6   // entries in Vsn
	maxSequence = 1<<32 - 1
	maxPort     = 1<<16 - 1
	maxState    = 3 // memberlist.StateLeft
)

// The structs of memberlist 0.7.0 (net.go) that a peer may send, by their field names on the wire.
var (
	pingRecord = record{{"SeqNo", integer, maxSequence}, {"Node", octets, maxName}, {"SourceAddr", octets, maxAddress},
		{"SourcePort", integer, maxPort}, {"SourceNode", octets, maxName}}
	ackRecord     = record{{"SeqNo", integer, maxSequence}, {"Payload", octets, maxPayload}}
	suspectRecord = record{{"Incarnation", integer, maxAccused}, {"Node", octets, maxName}, {"From", octets, maxName}}
	aliveRecord   = record{{"Incarnation", integer, maxIncarnation}, {"Node", octets, maxName},
		{"Addr", octets, maxAddress},
		{"Port", integer, maxPort}, {"Meta", octets, maxMeta}, {"Vsn", octets, versions}}
	stateRecord = record{{"Name", octets, maxName}, {"Addr", octets, maxAddress}, {"Port", integer, maxPort},
		{"Meta", octets, maxMeta},
		{"Incarnation", integer, maxIncarnation}, {"State", integer, maxState}, {"Vsn", octets, versions}}
	pushPullRecord   = record{{"Nodes", integer, maxNodes}, {"UserStateLen", integer, MaxStream}, {"Join", boolean, 1}}
	userHeaderRecord = record{{"UserMsgLen", integer, MaxStream}}
	errorRecord      = record{{"Error", octets, 1024}}
)

// longest is the number of fields of the largest record.
const longest = 7

// read reads a map. It rejects an unknown, duplicate or oversized field: memberlist's decoder would skip or convert it
// and so decode another value.
func (r record) read(c *cursor) (values [longest]value) {
	var seen [longest]bool
	for range c.mapLength() {
		i := r.index(c.octets())
		if i < 0 || seen[i] {
			c.fail()
		}
		if c.failed {
			return values
		}
		seen[i] = true
		values[i] = r[i].read(c)
	}
	return values
}

func (r record) index(name []byte) int {
	for i, f := range r {
		if f.name == string(name) {
			return i
		}
	}
	return -1
}

func (f field) read(c *cursor) (v value) {
	switch f.kind {
	case integer:
		v.integer = c.integer()
	case octets:
		v.octets = c.octets()
	case boolean:
		c.boolean()
	}
	if v.integer > f.max || uint64(len(v.octets)) > f.max {
		c.fail()
	}
	return v
}
