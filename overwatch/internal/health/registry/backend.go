package registry

import (
	"cmp"
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Backend is the published state of a backend: declaration, agent report, own check, admin states, and the resulting
// status. It is immutable. A change publishes a new Backend.
type Backend struct {
	ID
	// Weight is the declared weight, from 0 to api.MaxWeight.
	Weight int
	Region string
	// Source is the place where Weight, Region and Check are declared: static for the configuration, api for the API,
	// agent for an agent report.
	Source api.Source

	// Status, MayServe and Reason are the conclusion of package status.
	Status   api.EffectiveStatus
	MayServe bool
	Reason   string
	// FlapReason is the reason of the last stop of a flapping backend, "" for other backends. A flapping backend has
	// stopped serving several times within the flapping window.
	FlapReason string
	// Held is true if a mass-failure hold covers the report of the agent.
	Held bool
	// Share is the effective part of Weight, from 0 to 1. It is below 1 during a drain or an early warning.
	Share float64

	// DeclaredAgent is the agent that the declaration names, "" if it names none. See Declaration.Agent.
	DeclaredAgent string
	// AgentID is the agent that reports this backend, "" without an agent.
	AgentID string
	// Reported is the state that the agent reports, nil without an agent and before the agent's first result.
	Reported *bool
	// OwnCheck is the result of this node's own checks.
	OwnCheck OwnCheck
	// Dispute is a failure of own checks that waits for agreement between nodes, or that agreement has decided. It is nil
	// without a failure, and while agreement is off.
	Dispute *status.Dispute
	// Override, AdminWeight and AdminDrain are the active admin states, nil if there are none.
	Override, AdminWeight, AdminDrain *AdminState
	// Draining is true from the start of a drain, by an operator or the agent. DrainEndsAt is the time of its last step,
	// and DrainTo the final share. Both are zero without a drain.
	Draining    bool
	DrainEndsAt time.Time
	DrainTo     float64

	// LastHealthyAt is the last time at which the backend could serve. For a serving backend it is the time of the last
	// change. It is zero for a backend that never served.
	LastHealthyAt time.Time
	// CreatedAt is the time at which this node first knew the backend. It is stored across restarts.
	CreatedAt time.Time
	// UpdatedAt is the time of the last change of any field except OwnCheck and the votes of Dispute.
	UpdatedAt time.Time
	// Transitions is the number of changes of Status or MayServe since the start of this process.
	Transitions uint64

	agent *agent
	// omitted is the difference between the agent's check and the own check. It is 0 for a declared backend.
	omitted reduce.Omitted
	// check is shared by all backends with the same check, to save memory.
	check unique.Handle[check.Spec]
	host  unique.Handle[Host]
}

// EffectiveWeight returns the weight of the admin state, or the declared weight.
func (b *Backend) EffectiveWeight() int {
	if b.AdminWeight != nil {
		return b.AdminWeight.Weight
	}
	return b.Weight
}

// Host returns the host name from which the backend was resolved, the zero Host for a backend with a declared address.
func (b *Backend) Host() Host { return hostOf(b.host) }

func hostOf(h unique.Handle[Host]) Host {
	if h == (unique.Handle[Host]{}) {
		return Host{}
	}
	return h.Value()
}

// handle returns the handle of h, the zero Handle for the zero Host.
func (p Host) handle() (h unique.Handle[Host]) {
	if p != (Host{}) {
		h = unique.Make(p)
	}
	return h
}

// Check returns this node's own check of the backend. The Backend must be from a View.
func (b *Backend) Check() check.Spec { return b.check.Value() }

// FailureThreshold returns the number of consecutive failed checks after which the backend is unhealthy.
func (b *Backend) FailureThreshold() int {
	return cmp.Or(b.Check().FailureThreshold, check.DefaultFailureThreshold)
}

// SuccessThreshold returns the number of consecutive successful checks after which the backend is healthy.
func (b *Backend) SuccessThreshold() int {
	return cmp.Or(b.Check().SuccessThreshold, check.DefaultSuccessThreshold)
}

// IsReduced reports whether early warnings lower the share of a serving backend.
func (b *Backend) IsReduced() bool {
	switch b.Reason {
	case status.ReasonWarnsOfCPU, status.ReasonWarnsOfMemory, status.ReasonWarnsOfErrors, status.ReasonWarningEnded:
		return b.MayServe && b.Share < 1
	}
	return false
}

// CheckNote returns a sentence about the difference between the agent's check and the own check, "" if there is no
// difference.
func (b *Backend) CheckNote() string { return b.omitted.String() }

// IsHealthy reports whether the backend works: its status is healthy, or own checks succeed while its agent is silent.
func (b *Backend) IsHealthy() bool { return b.MayServe || b.Status == api.EffectiveHealthy }

// IsDisputed reports whether the agent's report and the own check differ, at any age.
func (b *Backend) IsDisputed() bool {
	return b.Reported != nil && b.OwnCheck.State != check.StateUnknown &&
		*b.Reported != (b.OwnCheck.State == check.StateHealthy)
}

// OwnCheck is the result of this node's own checks of a backend.
type OwnCheck struct {
	// State is the state according to the thresholds. It is StateUnknown before the first conclusive check.
	State check.State
	// At is the end of the last conclusive check.
	At time.Time
	// LastError is the error of the last check, "" after a success.
	LastError string
	// Latency is the duration of the last conclusive check.
	Latency time.Duration
	// Failures and Successes count consecutive conclusive checks with this outcome.
	Failures, Successes int
	// IsIgnored is true if a failed check is ignored because of self-isolation.
	IsIgnored bool
	// succeededAt is the end of the last successful check.
	succeededAt time.Time
	// interval is the time between two checks at the time of this check. The result stays current until the next check
	// if the configured interval becomes shorter.
	interval time.Duration
}

// CheckResult is the result of an own check.
type CheckResult struct {
	ID ID
	// State is the state according to the thresholds after this check. StateUnknown means that no threshold is reached;
	// the status of the backend then does not change.
	State check.State
	// Outcome is the outcome of this check. Unknown changes only OwnCheck.LastError.
	Outcome check.Outcome
	Err     string
	Latency time.Duration
	// At is the end of the check; zero means now.
	At time.Time
}

// Declaration is a backend that configuration or the API declares.
type Declaration struct {
	ID     ID
	Weight int
	Region string
	// Agent is the id of the agent that is authorized to report the server, "" if no agent is. Reports of other agents
	// that contradict successful own checks are ignored.
	Agent string
	// Check is shared by all backends with the same check, because there may be 400,000 backends. The zero Handle means
	// the zero Spec.
	Check unique.Handle[check.Spec]
	Host  Host
}

// Host is a host name that resolves to backends. The backends share its weight equally.
type Host struct {
	Name      string // host name, "" for the zero Host
	Addresses int    // number of addresses
	FromAPI   bool   // declared through the API
}

// CheckTarget is a backend that this node checks. The times of the node replace missing times of Spec.
type CheckTarget struct {
	ID   ID
	Spec check.Spec
	// WasUnhealthy is true if the backend has no current evidence and was last known unhealthy. Only the first check uses
	// it, so CheckTargetsGeneration does not change with it.
	WasUnhealthy bool
}
