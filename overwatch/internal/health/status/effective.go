package status

import (
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Inputs contains all inputs of the effective status of a backend. check.StateUnknown means that there is no report or
// no own check.
type Inputs struct {
	// Override is the state that an override sets.
	Override check.State
	// Report is the state that the agent reports.
	Report check.State
	// Stale is true if the agent has been silent for longer than the stale threshold, with or without a reported state.
	Stale bool
	// Held is true if mass-failure protection holds a report of unhealthy.
	Held bool
	// Unauthorized is true if the backend is declared and its declaration does not name the agent.
	Unauthorized bool
	// Check is the state of the node's own check. It is StateUnknown if the state is outdated, or ignored during
	// self-isolation.
	Check check.State
	// Isolated is true if a failed own check is ignored because of self-isolation.
	Isolated bool
	// Disputed is true if a failed own check waits for agreement. Check is then StateUnknown.
	Disputed bool
	// CheckOff is true if the node's own check of this backend is switched off.
	CheckOff bool
	// Unmonitored is true if own checks are disabled for the node or the backend, and no agent reports the backend.
	Unmonitored bool
	// LastKnown is the state according to the last evidence. At first it is the state before the restart.
	LastKnown check.State
}

// Conclusion is the effective status of a backend.
type Conclusion struct {
	Status   api.EffectiveStatus
	MayServe bool
	Reason   string
}

// Values of the columns of the truth table. A cell of a row contains the bits of all matching values.
const (
	none uint16 = 1 << iota // no override, no report, no own check, nothing known
	healthy
	unhealthy
	stale        // report: the agent is silent
	held         // report: unhealthy, and held
	unauthorized // report: unhealthy, from an unauthorized reporter
	ignored      // own check: none, because of self-isolation
	disputed     // own check: unhealthy, waits for agreement
	off          // own check: none, because the check is switched off; last known: nothing monitors the backend
	any          = ^uint16(0)
)

const (
	isHealthy   = api.EffectiveHealthy
	isUnhealthy = api.EffectiveUnhealthy
	isStale     = api.EffectiveStale
)

// row is a row of the truth table.
type row struct {
	override, report, check, lastKnown uint16
	Conclusion
}

// table is the truth table of the effective status. The first matching row applies.
//
// A failed own check that waits for agreement does not stop the backend. With an agent report of unhealthy, two
// observers agree, and the report takes effect.
//
// An agent that reports a backend without a state makes no report, but still monitors the backend.
var table = [...]row{
	// override, report, own check, last known, effective status, may serve, reason
	{healthy, any, any, any, Conclusion{isHealthy, true, ReasonOverrideHealthy}},
	{unhealthy, any, any, any, Conclusion{isUnhealthy, false, ReasonOverrideUnhealthy}},

	{none, stale, healthy, any, Conclusion{isStale, true, ReasonStaleValidated}},
	{none, stale, unhealthy, any, Conclusion{isStale, false, ReasonStaleFailing}},
	{none, stale, disputed, any, Conclusion{isStale, true, ReasonStaleDisputed}},
	{none, stale, off, any, Conclusion{isStale, false, ReasonStaleUnchecked}},
	{none, stale, ignored, any, Conclusion{isStale, false, ReasonStaleIsolated}},
	{none, stale, none, any, Conclusion{isStale, false, ReasonStale}},

	{none, unauthorized, healthy, any, Conclusion{isHealthy, true, ReasonUnauthorizedUnhealthy}},
	{none, held, any, any, Conclusion{isHealthy, true, ReasonHeld}},
	{none, unhealthy, any, any, Conclusion{isUnhealthy, false, ReasonAgentUnhealthy}},

	{none, healthy, unhealthy, any, Conclusion{isUnhealthy, false, ReasonValidationUnhealthy}},
	{none, healthy, healthy, any, Conclusion{isHealthy, true, ReasonAgreed}},
	{none, healthy, disputed, any, Conclusion{isHealthy, true, ReasonAgentDisputed}},
	{none, healthy, off, any, Conclusion{isHealthy, true, ReasonAgentUnchecked}},
	{none, healthy, ignored, any, Conclusion{isHealthy, true, ReasonAgentHealthyIsolated}},
	{none, healthy, none, any, Conclusion{isHealthy, true, ReasonAgentHealthy}},

	{none, none, healthy, any, Conclusion{isHealthy, true, ReasonValidated}},
	{none, none, unhealthy, any, Conclusion{isUnhealthy, false, ReasonFailing}},
	{none, none, disputed, any, Conclusion{isHealthy, true, ReasonDisputed}},
	{none, none, off, off, Conclusion{isHealthy, true, ReasonUnchecked}},
	{none, none, none, off, Conclusion{isHealthy, true, ReasonUnwatched}},
	{none, none, none, healthy, Conclusion{isHealthy, true, ReasonRemembered}},
	{none, none, none, unhealthy, Conclusion{isUnhealthy, false, ReasonRememberedUnhealthy}},
	{none, none, none, none, Conclusion{isUnhealthy, false, ReasonUnknown}},
}

// Conclude returns the effective status according to the truth table.
func Conclude(in Inputs) Conclusion {
	return table[matchedRow(&in)].Conclusion
}

// matchedRow returns the index of the first row that matches.
func matchedRow(in *Inputs) int {
	override, report, own, lastKnown := bitOf(in.Override), in.reportBits(), in.checkBits(), bitOf(in.LastKnown)
	if in.Unmonitored {
		lastKnown |= off
	}
	for i := range table {
		r := &table[i]
		if r.override&override != 0 && r.report&report != 0 && r.check&own != 0 && r.lastKnown&lastKnown != 0 {
			return i
		}
	}
	return len(table) - 1
}

func bitOf(s check.State) uint16 {
	switch s {
	case check.StateHealthy:
		return healthy
	case check.StateUnhealthy:
		return unhealthy
	}
	return none
}

// reportBits returns all values of the report column that apply.
func (in *Inputs) reportBits() uint16 {
	if in.Stale {
		return stale
	}
	bits := bitOf(in.Report)
	if bits != unhealthy {
		return bits
	}
	if in.Held {
		bits |= held
	}
	if in.Unauthorized {
		bits |= unauthorized
	}
	return bits
}

// checkBits returns all values of the column of own checks that apply.
func (in *Inputs) checkBits() uint16 {
	bits := bitOf(in.Check)
	if bits != none {
		return bits
	}
	if in.Disputed {
		return disputed
	}
	if in.CheckOff {
		bits |= off
	}
	if in.Isolated {
		bits |= ignored
	}
	return bits
}
