package wire

import "strconv"

// Version of the protocol in this package, and the memberlist label of the major number. Nodes with different major
// numbers cannot decrypt messages of each other.
const (
	Major = 1
	Minor = 2
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
	TypeDeregister Type = 5 // agent to node: leave message
	TypeAck        Type = 6 // node to agent: accepted
	TypeReject     Type = 7 // node to agent: rejected, with the reason
	TypeSignal     Type = 8 // agent to node: early warnings were set or cleared
	TypeDrain      Type = 9 // agent to node: all of its backends drain
)

var typeNames = []string{
	TypeHello:      "hello",
	TypeEnrol:      "enrol",
	TypeHeartbeat:  "heartbeat",
	TypeTransition: "transition",
	TypeDeregister: "deregister",
	TypeAck:        "ack",
	TypeReject:     "reject",
	TypeSignal:     "signal",
	TypeDrain:      "drain",
}

// String returns the name of the message, for logs and metric labels.
func (t Type) String() string { return named(t, typeNames, "type") }

// named returns the name of a number. For a number of a later version, it returns the kind and the number.
func named[T ~uint8](n T, names []string, what string) string {
	if int(n) < len(names) && names[n] != "" {
		return names[n]
	}
	return what + " " + strconv.Itoa(int(n))
}

// Claim is the health of a backend in an agent report.
type Claim uint8

// The claims. An agent reports ClaimNone until the first check has ended.
const (
	ClaimNone      Claim = 0
	ClaimHealthy   Claim = 1
	ClaimUnhealthy Claim = 2
)

// String returns "none", "healthy" or "unhealthy".
func (c Claim) String() string { return named(c, []string{"none", "healthy", "unhealthy"}, "claim") }
