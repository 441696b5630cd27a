package roll

import "time"

// Stage is a step of a Roll. A node goes to the next one only when all nodes have come to this one.
type Stage uint8

// The stages. Progress.Publishes, Signs and Offers give the use of a key in each:
//
//	stage      the new key               the old keys              the next stage waits for
//	Signing    signs                     as before                 the TTL of answers
//	Published  is in the DNSKEY RRset    as before                 the TTLs of DNSKEY records and answers
//	Offered    is offered to the parent  are offered no longer     the parent's DS, and the TTL of the one before
//	Alone      as before                 one use ends              the TTL of what the old keys did
//	Done       is the only one           are gone
//
// Signing is there only where the algorithm changes: each algorithm of the DNSKEY RRset must have signed every answer
// (RFC 6781 section 4.1.4). In Alone the old keys sign no longer, and are published; where the algorithm changes they
// are published no longer, and sign.
const (
	Signing Stage = iota + 1
	Published
	Offered
	Alone
	Done
)

// Way is the goal of a Roll: another key, or a zone that is unsigned, or signed.
type Way string

// The ways. A zone without a DS record in its parent is insecure: any answer of it is believed, signed or not. So
//
//	way         stage      the zone                                      the next stage waits for
//	ToUnsigned  Offered    is signed, and asks the parent to have no DS  the parent's DS records to be gone, their TTL
//	            Alone      is not signed                                 the TTL of signed answers
//	            Done       is not signed
//	ToSigned    Published  is signed, and asks the parent for nothing    the TTL of unsigned answers
//	            Offered    offers its keys to the parent                 the parent's DS records
//	            Done       is signed
//
// A zone goes either way whatever its keys do meanwhile: their Roll stands still while it is not signed, and does not
// come to Alone while the parent is to have no DS record.
const (
	ToKey      Way = "" // to another key
	ToUnsigned Way = "unsigned"
	ToSigned   Way = "signed"
)

// first returns the stage with which a Roll begins.
func (r *Roll) first() Stage {
	switch {
	case r.Way == ToUnsigned:
		return Offered
	case r.Way == ToKey && r.Algorithm:
		return Signing
	}
	return Published
}

// after returns the stage that follows one.
func (r *Roll) after(s Stage) Stage {
	if r.Way == ToSigned && s == Offered {
		return Done
	}
	return s + 1
}

// furthest returns the last stage to which a node may skip where others have come that far.
func (r *Roll) furthest() Stage {
	if r.Way == ToSigned {
		return Done
	}
	return Alone
}

// Name returns the name of a stage for people.
func (r *Roll) Name(s Stage) string {
	if r.Way == ToUnsigned && s == Alone {
		return string(ToUnsigned)
	}
	return s.String()
}

// String returns the name of a stage for people and peers.
func (s Stage) String() string {
	return [...]string{"", "signing", "published", "offered", "alone", "done"}[min(s, Done)]
}

// Roll is the decision that one key is to sign a zone in place of all that were made before it. It is the same on all
// nodes. Taking a Roll back is another Roll, to the key from before. With a Way it is the decision that the zone is to
// be signed, or unsigned, and has no Target.
type Roll struct {
	Way       Way       `json:"way,omitempty"`
	Target    []byte    `json:"target"`              // the public key
	Started   time.Time `json:"started"`             // by the clock of the node that got the order; the later Roll counts
	By        string    `json:"by"`                  // the id of that node
	Algorithm bool      `json:"algorithm,omitempty"` // the old keys, or some of them, have another algorithm
	Emergency bool      `json:"emergency,omitempty"` // an old key may be known to others: no wait but for the chain's sake
	// DS is the longest TTL of the parent's DS records that was seen before a Roll ToUnsigned began; 0: not known.
	DS time.Duration `json:"ds_ttl,omitempty"`
}

// Progress is the state of one node in a Roll.
type Progress struct {
	Roll
	Stage Stage     `json:"stage"`
	Since time.Time `json:"since"` // time from which this node answers as Stage says, by its clock
	// Before has the keys that the node which began the Roll published at that time, and Offer those that it offered to
	// the parent.
	Before [][]byte `json:"before"`
	Offer  [][]byte `json:"offer"`
	// ParentSince is the time from which all servers of the parent have had what the Roll asks for, the target's DS record
	// and no other, as this node saw without a break; zero: they have it not. It is not kept over a restart, since the
	// parent may change meanwhile; Resume keeps it over a reload.
	ParentSince time.Time `json:"parent_since,omitzero"`
	// Confirmed is the time at which an operator said that the parent has it; zero: nobody has.
	Confirmed time.Time `json:"confirmed,omitzero"`
	// Without lists peers, by their names here, that this stage does not wait for while nothing is heard of them, since an
	// operator said so.
	Without []string `json:"without,omitempty"`
	// Longest has the longest TTLs of RRsets that resolvers may hold since the Roll began. No wait is shorter.
	Longest Caches `json:"longest_ttls,omitzero"`
}
