package status

// The reasons of a conclusion are a closed set. Metrics use them as labels, and callers compare them.
const (
	ReasonOverrideHealthy       = "an operator's override says healthy"
	ReasonOverrideUnhealthy     = "an operator's override says unhealthy"
	ReasonAgentUnhealthy        = "its agent says unhealthy"
	ReasonUnauthorizedUnhealthy = "this node's own checks succeed; an agent that its declaration does not name says " +
		"unhealthy"
	ReasonValidationUnhealthy  = "its agent says healthy, this node's own checks fail"
	ReasonAgentHealthy         = "its agent says healthy, this node has no verdict of its own"
	ReasonAgreed               = "its agent and this node's own checks say healthy"
	ReasonStaleValidated       = "its agent is silent, this node's own checks succeed"
	ReasonStaleFailing         = "its agent is silent, this node's own checks fail"
	ReasonStale                = "its agent is silent and this node has no verdict of its own"
	ReasonAgentHealthyIsolated = "its agent says healthy, this node's own failed checks do not count: it was cut off " +
		"from most backends"
	ReasonStaleIsolated = "its agent is silent, this node's own failed checks do not count: it was cut off from " +
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
	// ReasonHeldAgent and ReasonHeldRegion replace ReasonHeld for the hold of an agent or a region.
	ReasonHeldAgent = "held: its agent says unhealthy, and so it does of most of its backends at once; this node's " +
		"own checks succeed"
	ReasonHeldRegion = "held: its agent says unhealthy, and agents alone would take its region; this node's own " +
		"checks succeed"
	// ReasonWarningHeld replaces the reason of a serving backend whose early warnings are held.
	ReasonWarningHeld = "held: its agent warns, and so do agents of most of the name's backends at once; this node's " +
		"own checks succeed"
	// The early warnings replace the reason of a serving backend and lower its share.
	ReasonWarnsOfCPU    = "serves less: its agent warns of the processor's load"
	ReasonWarnsOfMemory = "serves less: its agent warns of memory running out"
	ReasonWarnsOfErrors = "serves less: its agent warns of failing checks"
	ReasonWarningEnded  = "serves less: its agent's warning has ended, its share comes back"
	// ReasonDrained replaces the reason of a backend that only its drain stops, ReasonDrainedAnyway if an override is
	// healthy.
	ReasonDrained       = "drained"
	ReasonDrainedAnyway = "drained, which an operator's override of healthy does not end"
)
