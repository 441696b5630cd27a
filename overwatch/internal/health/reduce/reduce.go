// Package reduce turns the check that an agent asks for into the one that a node makes. A node asks nothing of any
// other place for an agent, sends nothing that an agent chose but path, host and names, and spends no time on an
// agent's patterns: else the verdicts, which DNS shows to everybody, would tell an agent what this node can reach.
//
// A check whose request would become another is made by opening a connection. One that would only be judged by less
// keeps the rest. What is left out, the agent judges alone. Everything here is pure and cheap: nothing is compiled.
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

// repeated are the methods that a node repeats.
var repeated = []string{"", "GET", "HEAD", "OPTIONS"}

// Check returns the check that a node makes where an agent asks for another, and what was left out of it. own tells
// that the node may speak the protocol of the check with the backend's address: that it is the agent's own, or that
// the operator named it.
func Check(asked check.Spec, own bool) (check.Spec, Left) {
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

// changed returns the reasons why a node's request would not be the one that the agent makes.
func changed(asked check.Spec, d check.Detail) Left {
	left := found(d.Headers, Headers) | found(d.Send, Send)
	if asked.Address.IsValid() {
		left |= Address
	}
	if !slices.Contains(repeated, d.Method) {
		left |= Method
	}
	return left
}

func found(text string, part Left) Left {
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
