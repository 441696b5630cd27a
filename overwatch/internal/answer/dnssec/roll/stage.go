package roll

import "time"

// Stage is a step of a Roll. A node continues only when all nodes have reached its stage.
type Stage uint8

// The stages. Progress.Publishes, Signs and Offers define the use of a key:
//
//	stage      new key                     old keys             the next stage waits for
//	Signing    signs                       unchanged            the TTL of answers
//	Published  is in the DNSKEY RRset      unchanged            the TTLs of DNSKEY records and answers
//	Offered    is offered to the parent    no longer offered    the parent's DS record, and the old DS TTL
//	Alone      unchanged                   lose one use         the TTL of the ended use
//	Done       is the only key             removed
//
// Signing exists only for a change of algorithm: each algorithm in the DNSKEY RRset must sign all answers (RFC 6781
// section 4.1.4). At Alone, the old keys are published and do not sign; for a change of algorithm, they sign and are
// not published.
const (
	Signing Stage = iota + 1
	Published
	Offered
	Alone
	Done
)

// Goal is the goal of a Roll: another key, an unsigned zone, or a signed zone.
type Goal string

// The goals. A zone without a DS record at its parent is insecure, so resolvers accept signed and unsigned answers.
//
//	goal        stage      the zone                                  the next stage waits for
//	ToUnsigned  Offered    is signed, and requests removal of DS     removal of the DS records, and their TTL
//	            Alone      is not signed                             the TTL of signed answers
//	            Done       is not signed
//	ToSigned    Published  is signed, without request to the parent  the TTL of unsigned answers
//	            Offered    offers its keys to the parent             the parent's DS records
//	            Done       is signed
//
// Signing transitions are independent of key rollovers: a rollover pauses while the zone is not signed, and does not
// reach Alone while the zone requests removal of DS records.
const (
	ToKey      Goal = "" // to another key
	ToUnsigned Goal = "unsigned"
	ToSigned   Goal = "signed"
)

// firstStage returns the first stage of the Roll.
func (r *Roll) firstStage() Stage {
	switch {
	case r.Goal == ToUnsigned:
		return Offered
	case r.Goal == ToKey && r.Algorithm:
		return Signing
	}
	return Published
}

// nextStage returns the stage after s.
func (r *Roll) nextStage(s Stage) Stage {
	if r.Goal == ToSigned && s == Offered {
		return Done
	}
	return s + 1
}

// furthestStage returns the last stage to which a node may skip if others have reached it.
func (r *Roll) furthestStage() Stage {
	if r.Goal == ToSigned {
		return Done
	}
	return Alone
}

// Name returns the display name of a stage.
func (r *Roll) Name(s Stage) string {
	if r.Goal == ToUnsigned && s == Alone {
		return string(ToUnsigned)
	}
	return s.String()
}

// String returns the name of a stage in the API and for peers.
func (s Stage) String() string {
	return [...]string{"", "signing", "published", "offered", "alone", "done"}[min(s, Done)]
}

// Roll is the decision that a key replaces all older keys of a zone. It is equal on all nodes. Canceling a Roll starts
// another Roll to the previous key. For the goals ToUnsigned and ToSigned, it is the decision to remove or add
// signatures, without Target.
type Roll struct {
	Goal      Goal      `json:"way,omitempty"`
	Target    []byte    `json:"target"`              // public key
	Started   time.Time `json:"started"`             // according to the clock of By; the later Roll takes precedence
	By        string    `json:"by"`                  // id of the node that received the request
	Algorithm bool      `json:"algorithm,omitempty"` // an old key has another algorithm
	Emergency bool      `json:"emergency,omitempty"` // an old key may be compromised: minimize the waits
	// DS is the longest TTL of the parent's DS records before a Roll ToUnsigned; 0 if unknown.
	DS time.Duration `json:"ds_ttl,omitempty"`
}

// Progress is the state of a node in a Roll.
type Progress struct {
	Roll
	Stage Stage     `json:"stage"`
	Since time.Time `json:"since"` // start of the stage, according to the clock of this node
	// Before contains the keys that the node which started the Roll published at that time; Offer the keys that it
	// offered to the parent.
	Before [][]byte `json:"before"`
	Offer  [][]byte `json:"offer"`
	// ParentSince is the time since which this node has continuously observed that all servers of the parent satisfy
	// the Roll (only the DS record of the target); zero if they do not. It is not stored on disk, because the parent
	// may change during a restart; Resume preserves it on a reload.
	ParentSince time.Time `json:"parent_since,omitzero"`
	// Confirmed is the time at which an operator confirmed the state of the parent; zero if not confirmed.
	Confirmed time.Time `json:"confirmed,omitzero"`
	// Without contains the names of unreachable peers that an operator excluded from the wait of this stage.
	Without []string `json:"without,omitempty"`
	// Longest contains the longest TTLs in caches since the start of the Roll. It is the minimum of all waits.
	Longest Caches `json:"longest_ttls,omitzero"`
}
