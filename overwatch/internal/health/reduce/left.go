package reduce

import "strings"

// Omitted is a set of the parts of an agent's check that a node leaves out, with the reasons for it.
type Omitted uint16

// The parts. Those before BodyContains leave no more than a connection.
const (
	Headers Omitted = 1 << iota
	Send
	Address
	Method
	// Elsewhere is true if the agent is heard from another address and no allowed_cidrs covers this one.
	Elsewhere
	// Unknown is true if this version of the node cannot make the check.
	Unknown
	BodyContains
	BodyMatches
	Expect
	// ByPolicy is true if agent_policies sets the check and the agent's is not used. No other part is set then.
	ByPolicy
)

// open are the parts without which a node only connects, each with the reason.
var open = []struct {
	part   Omitted
	reason string
}{
	{Headers, "its agent's check has headers, which a node does not send"},
	{Send, "its agent's check sends a text, which a node does not"},
	{Address, "its agent's check goes to another address, where a node does not look"},
	{Method, "its agent's check has a method other than GET, HEAD and OPTIONS"},
	{Elsewhere, "its agent is heard from another address, and no allowed_cidrs of agent_policies covers this one"},
	{Unknown, "this node cannot make its agent's check"},
}

// judged are the parts of a check that an agent judges alone while the node makes the rest.
var judged = []struct {
	part Omitted
	key  string
}{{BodyContains, "body_contains"}, {BodyMatches, "body_matches"}, {Expect, "expect"}}

// String returns a sentence about the parts that are left out, with the reason; "" if there are none.
func (l Omitted) String() string {
	if l&ByPolicy != 0 {
		return "this node checks it as overwatch.agent_policies says, not as its agent asks"
	}
	for _, o := range open {
		if l&o.part != 0 {
			return "this node only looks whether the port is open: " + o.reason
		}
	}
	var keys []string
	for _, j := range judged {
		if l&j.part != 0 {
			keys = append(keys, j.key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return "its agent alone judges " + strings.Join(keys, " and ") + ": this node makes the rest of the check"
}
