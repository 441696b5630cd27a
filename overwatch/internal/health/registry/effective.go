package registry

import (
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Inputs is everything that a backend's effective status depends on. check.StateUnknown stands for "none" in each.
type Inputs struct {
	// Override is the operator's order.
	Override check.State
	// Claim is the agent's claim. Stale tells that the claim, or an agent that has not concluded anything, has been silent
	// for longer than the stale threshold.
	Claim check.State
	Stale bool
	// Held tells that the agent says unhealthy and that the brake holds it.
	Held bool
	// Outsider tells that the backend is declared and that its declaration does not name the agent.
	Outsider bool
	// Validation is this node's own verdict, StateUnknown when it is too old or set aside; SetAside tells the latter.
	Validation check.State
	SetAside   bool
	// Unwatched tells that validation is switched off and no agent claims the backend.
	Unwatched bool
	// Unchecked tells that this node's check of the backend alone is switched off.
	Unchecked bool
	// Remembered is the status that the last evidence gave, from before the restart at first.
	Remembered check.State
}

// Conclusion follows from Inputs.
type Conclusion struct {
	Status   api.EffectiveStatus
	MayServe bool
	Reason   string
}

// The reasons of a conclusion. They are a closed set: safe as a metric label, and for a reader to compare with.
const (
	ReasonOverrideHealthy   = "an operator's override says healthy"
	ReasonOverrideUnhealthy = "an operator's override says unhealthy"
	ReasonAgentUnhealthy    = "its agent says unhealthy"
	ReasonOutsiderUnhealthy = "this node's own checks succeed; an agent that its declaration does not name says " +
		"unhealthy"
	ReasonValidationUnhealthy = "its agent says healthy, this node's own checks fail"
	ReasonAgentHealthy        = "its agent says healthy, this node has no verdict of its own"
	ReasonAgreed              = "its agent and this node's own checks say healthy"
	ReasonStaleValidated      = "its agent is silent, this node's own checks succeed"
	ReasonStaleFailing        = "its agent is silent, this node's own checks fail"
	ReasonStale               = "its agent is silent and this node has no verdict of its own"
	ReasonAgentHealthyAside   = "its agent says healthy, this node's own failed checks do not count: it was cut off " +
		"from most backends"
	ReasonStaleAside = "its agent is silent, this node's own failed checks do not count: it was cut off from " +
		"most backends"
	ReasonValidated           = "this node's own checks succeed"
	ReasonFailing             = "this node's own checks fail"
	ReasonRemembered          = "no verdict at present: healthy as last known"
	ReasonRememberedUnhealthy = "no verdict at present: unhealthy as last known"
	ReasonUnknown             = "no verdict yet"
	ReasonUnwatched           = "nothing watches it"
	ReasonUnchecked           = "its check is switched off and it has no agent: nothing watches it"
	ReasonAgentUnchecked      = "its agent says healthy, this node's own check of it is switched off"
	ReasonStaleUnchecked      = "its agent is silent, this node's own check of it is switched off"
	ReasonHeld                = "held: its agent says unhealthy, and so do agents of most of the name's backends at " +
		"once; this node's own checks succeed"
	// ReasonHeldAgent and ReasonHeldRegion replace ReasonHeld where the protection of its agent or region holds it.
	ReasonHeldAgent = "held: its agent says unhealthy, and so it does of most of its backends at once; this node's own " +
		"checks succeed"
	ReasonHeldRegion = "held: its agent says unhealthy, and agents alone would take its region; this node's own checks " +
		"succeed"
	// ReasonWarningHeld replaces the reason of one whose early warnings are held.
	ReasonWarningHeld = "held: its agent warns, and so do agents of most of the name's backends at once; this node's " +
		"own checks succeed"
	// The early warnings of its agent replace the reason of one that may serve, with a smaller share.
	ReasonWarnsOfCPU    = "serves less: its agent warns of the processor's load"
	ReasonWarnsOfMemory = "serves less: its agent warns of memory running out"
	ReasonWarnsOfErrors = "serves less: its agent warns of failing checks"
	ReasonWarningEnded  = "serves less: its agent's warning has ended, its share comes back"
	// ReasonDrained replaces the reason of one that may serve but for its drain; ReasonDrainedAnyway where an operator's
	// override says that it may.
	ReasonDrained       = "drained"
	ReasonDrainedAnyway = "drained, which an operator's override of healthy does not end"
)

// Effective returns a backend's status, and whether it may serve:
//
//	override   agent's claim                own validation      effective_status            may serve
//	healthy    any                          any                 healthy                     yes
//	unhealthy  any                          any                 unhealthy                   no
//	none       fresh, unhealthy, outsider   healthy             healthy                     yes
//	none       fresh, unhealthy, held       healthy             healthy                     yes
//	none       fresh, unhealthy             any                 unhealthy                   no
//	none       fresh, healthy               unhealthy           unhealthy                   no
//	none       fresh, healthy               healthy, or none    healthy                     yes
//	none       older than stale.threshold   healthy             stale                       yes
//	none       older than stale.threshold   unhealthy, or none  stale                       no
//	none       none                         healthy             healthy                     yes
//	none       none                         unhealthy           unhealthy                   no
//	none       none                         none yet            as last known, else unhealthy  the same
//	none       none                         switched off        healthy: nothing watches it yes
//
// Validation is switched off for the whole node or for a backend.
//
// An outsider is an agent that claims a server which configuration or the API declares, and which that declaration does
// not name. A claim is held if the brake of its service holds it (see brake). The first row that fits counts. An agent
// that is heard but has not concluded anything makes no claim, and yet it watches: its backend is never in the last
// row. "As last known" is the conclusion from the last evidence, before the restart or since: a check that cannot be
// made is no reason to change an answer.
func Effective(in Inputs) Conclusion {
	c := effective(in)
	if in.Unchecked {
		switch c.Reason {
		case ReasonAgentHealthy:
			c.Reason = ReasonAgentUnchecked
		case ReasonStale:
			c.Reason = ReasonStaleUnchecked
		case ReasonUnwatched:
			c.Reason = ReasonUnchecked
		}
	}
	if in.SetAside {
		switch c.Reason {
		case ReasonAgentHealthy:
			c.Reason = ReasonAgentHealthyAside
		case ReasonStale:
			c.Reason = ReasonStaleAside
		}
	}
	return c
}

func effective(in Inputs) Conclusion {
	switch {
	case in.Override == check.StateHealthy:
		return Conclusion{api.EffectiveHealthy, true, ReasonOverrideHealthy}
	case in.Override == check.StateUnhealthy:
		return Conclusion{api.EffectiveUnhealthy, false, ReasonOverrideUnhealthy}
	case in.Stale:
		return effectiveStale(in.Validation)
	case in.Claim == check.StateUnhealthy && in.Outsider && in.Validation == check.StateHealthy:
		return Conclusion{api.EffectiveHealthy, true, ReasonOutsiderUnhealthy}
	case in.Claim == check.StateUnhealthy && in.Held:
		return Conclusion{api.EffectiveHealthy, true, ReasonHeld}
	case in.Claim == check.StateUnhealthy:
		return Conclusion{api.EffectiveUnhealthy, false, ReasonAgentUnhealthy}
	case in.Claim == check.StateHealthy:
		return effectiveClaimed(in.Validation)
	}
	return effectiveUnclaimed(in)
}

// effectiveStale decides the two rows of a claim older than the stale threshold.
func effectiveStale(validation check.State) Conclusion {
	switch validation {
	case check.StateHealthy:
		return Conclusion{api.EffectiveStale, true, ReasonStaleValidated}
	case check.StateUnhealthy:
		return Conclusion{api.EffectiveStale, false, ReasonStaleFailing}
	default:
		return Conclusion{api.EffectiveStale, false, ReasonStale}
	}
}

// effectiveClaimed decides the two rows of a fresh claim of health.
func effectiveClaimed(validation check.State) Conclusion {
	switch validation {
	case check.StateUnhealthy:
		return Conclusion{api.EffectiveUnhealthy, false, ReasonValidationUnhealthy}
	case check.StateHealthy:
		return Conclusion{api.EffectiveHealthy, true, ReasonAgreed}
	default:
		return Conclusion{api.EffectiveHealthy, true, ReasonAgentHealthy}
	}
}

// effectiveUnclaimed decides the rows without a claim.
func effectiveUnclaimed(in Inputs) Conclusion {
	switch {
	case in.Validation == check.StateHealthy:
		return Conclusion{api.EffectiveHealthy, true, ReasonValidated}
	case in.Validation == check.StateUnhealthy:
		return Conclusion{api.EffectiveUnhealthy, false, ReasonFailing}
	case in.Unwatched:
		return Conclusion{api.EffectiveHealthy, true, ReasonUnwatched}
	case in.Remembered == check.StateHealthy:
		return Conclusion{api.EffectiveHealthy, true, ReasonRemembered}
	case in.Remembered == check.StateUnhealthy:
		return Conclusion{api.EffectiveUnhealthy, false, ReasonRememberedUnhealthy}
	default:
		return Conclusion{api.EffectiveUnhealthy, false, ReasonUnknown}
	}
}
