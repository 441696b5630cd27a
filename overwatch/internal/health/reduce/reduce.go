// Package reduce derives the own check of a backend from the check that its agent requests. registry calls Check. For
// an agent, a node connects only to the address of the backend, sends only the path, host and names of the agent's
// check, and evaluates no pattern. Otherwise the check results, which DNS publishes, would reveal to an agent which
// services the node can reach.
//
// If the node would have to change the request of a check, the check becomes a TCP check. If the node only evaluates
// fewer conditions, the check keeps its request. The agent evaluates the omitted conditions. The functions have no side
// effects and compile no pattern.
package reduce

import (
	"net/netip"
	"slices"
	"time"

	"gslb.internal/shared/check"
)

// Bounds of the times of an agent's check. A node checks the backends of agents at the times of overwatch.validation,
// so the bounds apply only to the displayed and stored times.
const (
	MinInterval = time.Second
	MinTimeout  = 500 * time.Millisecond
)

// MaxThreshold is the maximum threshold of an agent's check. It prevents an agent from keeping a backend in the answers
// after the own check has failed.
const MaxThreshold = 10

// repeated lists the methods that a node copies from an agent's check. They have no side effects on the backend.
var repeated = []string{"", "GET", "HEAD", "OPTIONS"}

// Check returns the own check for an agent's check, and the omitted parts. own reports whether the node may use the
// protocol of the check: the backend has the address of the agent, or the operator permits its address.
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

// changed returns the parts of an agent's check that a node does not send.
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

// Connection returns the check without settings: a TCP connection to the port.
func Connection() check.Spec {
	return check.Spec{
		Type: check.TCP, Interval: check.DefaultInterval, Timeout: check.DefaultTimeout,
		FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold,
	}
}
