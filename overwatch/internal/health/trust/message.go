package trust

import (
	"fmt"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// Message is an agent's message that has been believed.
type Message struct {
	Agent        Agent
	Type         wire.Type // that of an agent's message: TypeEnrol, TypeHeartbeat and so on
	Epoch, Seq   uint64
	SentAtMillis int64  // by the agent's clock; for diagnosis only
	Payload      []byte // part of what was passed to Open; of an Enrol, which has been dealt with, too
	NewlyPinned  bool   // the agent was pinned by this message
	Duplicate    bool   // an earlier process with the agent's certificate sends messages too
	// Session authenticated the message in place of a signature, and may authenticate its Ack; nil: it was signed.
	Session *identity.Session
	// Refused are the services that an Enrol asked for and did not get; for the Ack.
	Refused []wire.RefusedClaim
}

// Reason is the reason of a refusal. Reasons are a closed set, fit for a metric label.
type Reason string

// The reasons without a reject code: nothing is answered to them, because nobody would be helped by it.
const (
	ReasonMalformed   Reason = "malformed"    // not a sealed message, or a payload that does not decode
	ReasonUnknownKey  Reason = "unknown_key"  // no pin for the certificate, and no way to tell who sent it
	ReasonUnknownType Reason = "unknown_type" // a message that no agent sends, or of a later version
	ReasonReplay      Reason = "replay"       // not newer than what was taken before
	ReasonSignature   Reason = "signature"    // sealed by another key, for another direction, or changed on the way
)

// Refusal is a message that was not believed.
type Refusal struct {
	Reason  Reason          // the code's name where there is a code
	Code    wire.RejectCode // 0 where there is none
	AgentID string          // "" when unknown; as long as the signature has not been checked, it is the sender's word
	KeyID   identity.KeyID
	Known   bool // the certificate is pinned
	Type    wire.Type
	Seq     uint64
	Service string // the service concerned, if it is about one
	Detail  string // for people
	Epoch   uint64 // of CodeDuplicate and CodeNewEpoch: the newest epoch that was accepted from the agent
	// Silent means that no Reject is to be sent: there is no code, nobody to send it to, or too many were sent already.
	Silent bool
}

// Error describes the refusal for people.
func (r *Refusal) Error() string {
	who := r.AgentID
	if who == "" {
		who = "unknown agent"
	}
	if r.Detail == "" {
		return fmt.Sprintf("%s from %s refused: %s", r.Type, who, r.Reason)
	}
	return fmt.Sprintf("%s from %s refused: %s: %s", r.Type, who, r.Reason, r.Detail)
}

// Reject returns the answer for the agent, to be sealed and sent unless the refusal is silent.
func (r *Refusal) Reject() wire.Reject {
	return wire.Reject{AckedType: r.Type, AckedSeq: r.Seq, AckedKey: r.KeyID, Code: r.Code, Service: r.Service,
		Detail: r.Detail, Epoch: r.Epoch}
}
