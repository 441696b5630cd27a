package status

// The reasons of a conclusion are a closed set. A reason names the evidence that decided: an override, the report of
// the agent, the result of own checks, or the last known state. Reasons of holds, early warnings and drains replace
// such a reason. Metrics use them as labels, and callers compare them.
const (
	ReasonOverrideHealthy       = "override: healthy"
	ReasonOverrideUnhealthy     = "override: unhealthy"
	ReasonAgentUnhealthy        = "the agent reports unhealthy"
	ReasonUnauthorizedUnhealthy = "own checks succeed; an unauthorized reporter reports unhealthy"
	ReasonValidationUnhealthy   = "the agent reports healthy; own checks fail"
	ReasonAgentHealthy          = "the agent reports healthy; there is no own check result"
	ReasonAgreed                = "the agent reports healthy and own checks succeed"
	ReasonStaleValidated        = "the agent is silent; own checks succeed"
	ReasonStaleFailing          = "the agent is silent; own checks fail"
	ReasonStale                 = "the agent is silent; there is no own check result"
	ReasonAgentHealthyIsolated  = "the agent reports healthy; failed own checks are ignored (self-isolation)"
	ReasonStaleIsolated         = "the agent is silent; failed own checks are ignored (self-isolation)"
	ReasonValidated             = "own checks succeed"
	ReasonFailing               = "own checks fail"
	ReasonRemembered            = "no current check result; last known healthy"
	ReasonRememberedUnhealthy   = "no current check result; last known unhealthy"
	ReasonUnknown               = "no check result yet"
	ReasonUnwatched             = "unmonitored: own checks are disabled and it has no agent"
	ReasonUnchecked             = "unmonitored: its own check is disabled and it has no agent"
	ReasonAgentUnchecked        = "the agent reports healthy; its own check is disabled"
	ReasonStaleUnchecked        = "the agent is silent; its own check is disabled"
	ReasonHeld                  = "held: the agents of many backends of the domain report unhealthy; own checks succeed"
	// ReasonDisputed and the reasons after it are for failed own checks that wait for agreement (validation.agree).
	ReasonDisputed      = "own checks fail; waiting for confirmation by other nodes (validation.agree)"
	ReasonAgentDisputed = "the agent reports healthy; own checks fail, waiting for confirmation by other nodes " +
		"(validation.agree)"
	ReasonStaleDisputed = "the agent is silent; own checks fail, waiting for confirmation by other nodes " +
		"(validation.agree)"
	// ReasonHeldAgent and ReasonHeldRegion replace ReasonHeld for the hold of an agent or a region.
	ReasonHeldAgent  = "held: the agent reports many of its backends unhealthy; own checks succeed"
	ReasonHeldRegion = "held: agents report most or all backends of the region unhealthy; own checks succeed"
	// ReasonWarningHeld replaces the reason of a serving backend with early warnings in a hold.
	ReasonWarningHeld = "held: the agents of many backends of the domain send early warnings; own checks succeed"
	// The early warnings replace the reason of a serving backend and lower its share.
	ReasonWarnsOfCPU    = "reduced share: early warning of CPU load"
	ReasonWarnsOfMemory = "reduced share: early warning of memory"
	ReasonWarnsOfErrors = "reduced share: early warning of check errors"
	ReasonWarningEnded  = "reduced share: the early warning has ended, the share rises"
	// ReasonDamped replaces the reason of a backend that would serve, during the delay after it flapped.
	ReasonDamped = "damped: the backend flaps, it serves after a delay (flap.delay)"
	// ReasonRecovering replaces the reason of a backend that serves after it was down, while its share rises.
	ReasonRecovering = "reduced share: the backend was down, its share rises (recovery.ramp)"
	// ReasonDrained replaces the reason of a backend that would serve without its drain. ReasonDrainedAnyway is the reason
	// if an override is healthy.
	ReasonDrained       = "drained"
	ReasonDrainedAnyway = "drained: an override to healthy does not end a drain"
)
