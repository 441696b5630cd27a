package reduce

import "strings"

// Omitted is a set of the omitted parts of an agent's check, with the reasons.
type Omitted uint16

// The parts and reasons. The values before BodyContains reduce the check to a connection.
const (
	Headers Omitted = 1 << iota
	Send
	Address
	Method
	// Elsewhere means that the agent reports from another address, and no allowed_cidrs contains the address of the
	// backend.
	Elsewhere
	// Unknown is set if this version of the node does not support the check.
	Unknown
	BodyContains
	BodyMatches
	Expect
	// ByPolicy is set if agent_policies replaces the agent's check. It excludes all other parts.
	ByPolicy
)

// open lists the parts that reduce a check to a connection, with the reasons.
var open = []struct {
	part   Omitted
	reason string
}{
	{Headers, "its agent's check has headers, which a node does not send"},
	{Send, "its agent's check sends a text, which a node does not"},
	{Address, "the check of its agent probes another address, which nodes do not probe"},
	{Method, "its agent's check has a method other than GET, HEAD and OPTIONS"},
	{Elsewhere, "its agent reports from another address, and no allowed_cidrs of agent_policies covers this address"},
	{Unknown, "this node cannot make its agent's check"},
}

// judged lists the conditions that only the agent evaluates, while the node sends the request of the check.
var judged = []struct {
	part Omitted
	key  string
}{{BodyContains, "body_contains"}, {BodyMatches, "body_matches"}, {Expect, "expect"}}

// String returns a sentence with the omitted parts and the reason, or "" if there are none.
func (l Omitted) String() string {
	if l&ByPolicy != 0 {
		return "this node uses the check in overwatch.agent_policies instead of the agent's check"
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
	return "only its agent decides " + strings.Join(keys, " and ") + ": this node makes the rest of the check"
}
