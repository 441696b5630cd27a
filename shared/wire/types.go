package wire

import "strconv"

// Version of the protocol that this package speaks, and the memberlist label that goes with the major number: nodes of
// another major version do not even decrypt each other.
const (
	Major = 1
	Minor = 1
	Label = "gslb/1"
)

// Type is the type of a message. Its number is in the envelope, outside the payload.
type Type uint8

// The messages, with their numbers on the wire.
const (
	TypeHello      Type = 1 // node to agent, in its push/pull answer
	TypeEnrol      Type = 2 // agent to node: certificate and token proofs
	TypeHeartbeat  Type = 3 // agent to node: the agent's whole state
	TypeTransition Type = 4 // agent to node: one backend changed
	TypeDeregister Type = 5 // agent to node: goodbye
	TypeAck        Type = 6 // node to agent: accepted
	TypeReject     Type = 7 // node to agent: refused, and why
	TypeSignal     Type = 8 // agent to node: early warnings were set or cleared
	TypeDrain      Type = 9 // agent to node: all of its backends are to be drained
)

// String returns the name of the message, for logs and metric labels.
func (t Type) String() string {
	switch t {
	case TypeHello:
		return "hello"
	case TypeEnrol:
		return "enrol"
	case TypeHeartbeat:
		return "heartbeat"
	case TypeTransition:
		return "transition"
	case TypeDeregister:
		return "deregister"
	case TypeAck:
		return "ack"
	case TypeReject:
		return "reject"
	case TypeSignal:
		return "signal"
	case TypeDrain:
		return "drain"
	}
	return "type " + strconv.Itoa(int(t))
}

// Claim is an agent's report of a backend's health.
type Claim uint8

// The claims. An agent that has not finished a first check claims nothing.
const (
	ClaimNone      Claim = 0
	ClaimHealthy   Claim = 1
	ClaimUnhealthy Claim = 2
)

// String returns "none", "healthy" or "unhealthy".
func (c Claim) String() string {
	switch c {
	case ClaimNone:
		return "none"
	case ClaimHealthy:
		return "healthy"
	case ClaimUnhealthy:
		return "unhealthy"
	}
	return "claim " + strconv.Itoa(int(c))
}
