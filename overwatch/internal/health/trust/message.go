package trust

import (
	"fmt"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// Message is an authenticated message of an agent.
type Message struct {
	Agent        Agent
	Type         wire.Type // TypeEnrol, TypeHeartbeat and the other types of agents
	Epoch, Seq   uint64
	SentAtMillis int64  // according to the agent's clock; for diagnosis only
	Payload      []byte // a part of the argument of Open
	NewlyPinned  bool   // this message pinned the agent
	Duplicate    bool   // an earlier process with the same certificate also sends messages
	// Session authenticated the message and may authenticate its Ack. It is nil for a signed message.
	Session *identity.Session
	// Refused are the services of an Enrol that were rejected, for the Ack.
	Refused []wire.RefusedClaim
}

// Reason is the reason of a rejection. Reasons are a closed set, and metrics use them as labels.
type Reason string

// The reasons without a reject code. Messages rejected for these reasons have no answer.
const (
	ReasonMalformed   Reason = "malformed"    // not a sealed message, or a payload that does not decode
	ReasonUnknownKey  Reason = "unknown_key"  // no pin for the certificate
	ReasonUnknownType Reason = "unknown_type" // a type that agents do not send in this version
	ReasonReplay      Reason = "replay"       // not newer than the last accepted message
	ReasonSignature   Reason = "signature"    // wrong key, wrong direction, or a modified message
)

// Refusal is a rejected message.
type Refusal struct {
	Reason  Reason          // the name of the code, if there is a code
	Code    wire.RejectCode // 0 without a code
	AgentID string          // "" if unknown; unproved before the check of the signature
	KeyID   identity.KeyID
	Known   bool // the certificate is pinned
	Type    wire.Type
	Seq     uint64
	Service string // the rejected service, or ""
	Detail  string // a sentence for operators
	Epoch   uint64 // for CodeDuplicate and CodeNewEpoch: the latest accepted epoch of the agent
	// Silent means that the node sends no Reject: there is no code, the sender is unknown, or the limit of answers is
	// reached.
	Silent bool
}

// Error returns the rejection as a sentence.
func (r *Refusal) Error() string {
	who := r.AgentID
	if who == "" {
		who = "unknown agent"
	}
	if r.Detail == "" {
		return fmt.Sprintf("%s from %s rejected: %s", r.Type, who, r.Reason)
	}
	return fmt.Sprintf("%s from %s rejected: %s: %s", r.Type, who, r.Reason, r.Detail)
}

// Reject returns the answer to the agent. The caller seals and sends it unless Silent is set.
func (r *Refusal) Reject() wire.Reject {
	return wire.Reject{AckedType: r.Type, AckedSeq: r.Seq, AckedKey: r.KeyID, Code: r.Code, Service: r.Service,
		Detail: r.Detail, Epoch: r.Epoch}
}
