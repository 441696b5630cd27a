// Package reduce derives a node's check of a backend from the check that its agent asks for. registry calls Check. For
// an agent, a node connects to no address but the backend's, sends nothing of the agent's choice but path, host and
// names, and runs no pattern: else the verdicts, which DNS shows to everybody, would tell an agent what this node can
// reach.
//
// A check whose request the node would have to change becomes a mere connection. A check of which the node only judges
// less keeps its request. The agent alone judges what is left out. Everything here is pure and cheap: nothing is
// compiled.
package reduce

import (
	"net/netip"
	"slices"
	"time"

	"gslb.internal/shared/check"
)

// Bounds of the times that an agent asks for. A node checks agents' backends at its own times (overwatch.validation),
// so they only bound what is shown and saved.
const (
	MinInterval = time.Second
	MinTimeout  = 500 * time.Millisecond
)

// MaxThreshold bounds the checks in a row that an agent asks for, so that no agent keeps a backend in the answers that
// this node's check finds unhealthy.
const MaxThreshold = 10

// repeated lists the methods that a node takes over from an agent's check; they change nothing at the backend.
var repeated = []string{"", "GET", "HEAD", "OPTIONS"}

// Check returns the node's check for the one that an agent asks for, and the parts of it that are left out. own tells
// that the node may speak the check's protocol with the backend: its address is the agent's own, or the operator named
// it.
func Check(asked check.Spec, own bool) (check.Spec, Omitted) {
	d := asked.Detail.Detail()
	left := changed(asked, d)
	if asked.Type != check.TCP && !own {
		left |= Elsewhere
	}
	judged := found(d.BodyContains, BodyContains) | found(d.BodyMatches, BodyMatches) | found(d.Expect, Expect)
	d.Headers, d.Send, d.BodyContains, d.BodyMatches, d.Expect = "", "", "", "", ""
	made := asked
	made.Address = netip.Addr{}
	made.Interval = max(made.Interval, MinInterval)
	made.Timeout = min(max(made.Timeout, MinTimeout), made.Interval)
	made.FailureThreshold = min(made.FailureThreshold, MaxThreshold)
	made.SuccessThreshold = min(made.SuccessThreshold, MaxThreshold)
	if left != 0 {
		made = check.Spec{
			Type: check.TCP, Interval: made.Interval, Timeout: made.Timeout,
			FailureThreshold: made.FailureThreshold, SuccessThreshold: made.SuccessThreshold,
		}
		d = check.Detail{Counting: d.Counting}
	}
	made.Detail = d.Details()
	if len(made.Validate()) > 0 {
		return Connection(), left | judged | Unknown
	}
	return made, left | judged
}

// changed returns the parts of an agent's check that make its request one that a node does not send.
func changed(asked check.Spec, d check.Detail) Omitted {
	left := found(d.Headers, Headers) | found(d.Send, Send)
	if asked.Address.IsValid() {
		left |= Address
	}
	if !slices.Contains(repeated, d.Method) {
		left |= Method
	}
	return left
}

func found(text string, part Omitted) Omitted {
	if text == "" {
		return 0
	}
	return part
}

// Connection returns the check that needs no settings: whether the port is open.
func Connection() check.Spec {
	return check.Spec{
		Type: check.TCP, Interval: check.DefaultInterval, Timeout: check.DefaultTimeout,
		FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold,
	}
}
