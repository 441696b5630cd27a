package roll

import "time"

// Stage is how far a node has gone with a Roll. A node goes to the next one only when all nodes have come to this one.
type Stage uint8

// The stages. What a key does in each is told by Progress.Publishes, Signs and Offers:
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

// String returns the stage as people and peers know it.
func (s Stage) String() string {
	return [...]string{"", "signing", "published", "offered", "alone", "done"}[min(s, Done)]
}

// Roll is the decision that one key is to sign a zone in place of all that were made before it. It is the same on all
// nodes. Taking a Roll back is another one, to the key from before.
type Roll struct {
	Target    []byte    `json:"target"`              // the public key
	Started   time.Time `json:"started"`             // by the clock of the node that was told; the later one counts
	By        string    `json:"by"`                  // the id of that node
	Algorithm bool      `json:"algorithm,omitempty"` // the old keys, or some of them, have another algorithm
	Emergency bool      `json:"emergency,omitempty"` // an old key may be known to others: no wait but for the chain's sake
}

// Progress is how far one node is with a Roll.
type Progress struct {
	Roll
	Stage Stage     `json:"stage"`
	Since time.Time `json:"since"` // when the answers of this node had become what Stage says, by its clock
	// Before is what the node that began published, and Offer what it offered to the parent.
	Before [][]byte `json:"before"`
	Offer  [][]byte `json:"offer"`
	// ParentSince is since when all servers of the parent have had the target's DS record and no other, as this node
	// saw without a break; zero: not. It is not kept over a restart, since the parent may change meanwhile.
	ParentSince time.Time `json:"parent_since,omitzero"`
	// Confirmed is when an operator said that the parent has it.
	Confirmed time.Time `json:"confirmed,omitzero"`
}
