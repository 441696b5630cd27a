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

// Backend is the state of one backend at one moment: its declaration, claim, verdict and orders, and the status that
// follows. It is immutable: a change publishes a new one.
type Backend struct {
	ID
	// Weight is the declared one, from 0 to api.MaxWeight.
	Weight int
	Region string
	// Source is the kind of declaration that Weight, Region and Check come from: static for one of the configuration, api
	// for one made by the API, else agent.
	Source api.Source

	// Status, MayServe and Reason are the conclusion; Reason is one of a closed set of sentences.
	Status   api.EffectiveStatus
	MayServe bool
	Reason   string
	// FlapReason is the reason of the last stop while the backend flaps: it stopped serving several times within minutes.
	// It is "" otherwise.
	FlapReason string
	// Held tells that its agent speaks against it and that the brake of its service holds that.
	Held bool
	// Share is the part of Weight that counts now, from 0 to 1; below 1 while the backend drains or its agent warns.
	Share float64

	// DeclaredAgent is the agent that the declaration names, "" for none: see Declaration.
	DeclaredAgent string
	// AgentID is the agent that claims this backend, "" for none.
	AgentID string
	// Reported is the agent's word: nil where there is no agent, or where it has not concluded anything yet.
	Reported *bool
	// OwnCheck is the result of this node's own checks.
	OwnCheck OwnCheck
	// Override, WeightOrder and DrainOrder are the operator's orders in force, nil for none.
	Override, AdminWeight, AdminDrain *AdminState
	// Draining is true from the start of a drain, by the operator or the agent. DrainEndsAt is its end, and DrainTo the
	// share that it leaves then; both are zero when the backend is not draining.
	Draining    bool
	DrainEndsAt time.Time
	DrainTo     float64

	// LastHealthyAt is the last known moment at which the backend was fit to serve, recent if it still is; zero if
	// it never was.
	LastHealthyAt time.Time
	// CreatedAt is the time when this node learned of the backend; it outlives the process.
	CreatedAt time.Time
	// UpdatedAt is the time of the last change of anything but Validation.
	UpdatedAt time.Time

	agent *agent
	// omitted is the set of parts of the agent's check that check leaves out; 0 where configuration or the API declares
	// the backend.
	omitted reduce.Omitted
	// check is shared by all backends that are checked alike: it is most of the memory that one would take.
	check unique.Handle[check.Spec]
	host  unique.Handle[Host]
}

// EffectiveWeight returns the weight that counts: the operator's order, or the declared one.
func (b *Backend) EffectiveWeight() int {
	if b.AdminWeight != nil {
		return b.AdminWeight.Weight
	}
	return b.Weight
}

// Host returns the host name that the backend is an address of; the zero Part if it is of none.
func (b *Backend) Host() Host { return hostOf(b.host) }

func hostOf(h unique.Handle[Host]) Host {
	if h == (unique.Handle[Host]{}) {
		return Host{}
	}
	return h.Value()
}

// handle returns the zero Handle for the zero Part.
func (p Host) handle() (h unique.Handle[Host]) {
	if p != (Host{}) {
		h = unique.Make(p)
	}
	return h
}

// Check returns this node's own check of the backend. It may be called only on a Backend that a View returned.
func (b *Backend) Check() check.Spec { return b.check.Value() }

// FailureThreshold returns the number of failed checks in a row that make the backend unhealthy. Check has the rule for
// b.
func (b *Backend) FailureThreshold() int {
	return cmp.Or(b.Check().FailureThreshold, check.DefaultFailureThreshold)
}

// SuccessThreshold returns the number of successful checks in a row that make the backend healthy. Check has the rule
// for b.
func (b *Backend) SuccessThreshold() int {
	return cmp.Or(b.Check().SuccessThreshold, check.DefaultSuccessThreshold)
}

// IsReduced reports whether the backend serves with a smaller share because its agent warns, or warned a while ago.
func (b *Backend) IsReduced() bool {
	switch b.Reason {
	case status.ReasonWarnsOfCPU, status.ReasonWarnsOfMemory, status.ReasonWarnsOfErrors, status.ReasonWarningEnded:
		return b.MayServe && b.Share < 1
	}
	return false
}

// CheckNote returns a sentence about the difference between Check and the agent's check, with the reason; "" if there
// is none.
func (b *Backend) CheckNote() string { return b.omitted.String() }

// IsHealthy reports whether the backend works: its status is healthy, or its agent is silent and the node's own checks
// succeed.
func (b *Backend) IsHealthy() bool { return b.MayServe || b.Status == api.EffectiveHealthy }

// IsDisputed reports whether the agent and this node's own check say different things, however old they are.
func (b *Backend) IsDisputed() bool {
	return b.Reported != nil && b.OwnCheck.State != check.StateUnknown &&
		*b.Reported != (b.OwnCheck.State == check.StateHealthy)
}

// OwnCheck is the state of this node's own checks of one backend.
type OwnCheck struct {
	// State is the verdict; StateUnknown before the first conclusive check.
	State check.State
	// At is the end of the last conclusive check.
	At time.Time
	// LastError is the error of the last check, "" after a success.
	LastError string
	// Latency is the duration of the last conclusive check.
	Latency time.Duration
	// Failures and Successes are how many conclusive checks in a row had that outcome.
	Failures, Successes int
	// IsIgnored is true for a verdict that does not count because this node itself was cut off when it was made.
	IsIgnored bool
	// interval is the time between two checks when the verdict was made: a shorter one in force since makes no verdict
	// too old before the next check.
	interval time.Duration
}

// CheckResult is the outcome of one of this node's own checks.
type CheckResult struct {
	ID ID
	// State is the conclusion from the outcomes up to this one. StateUnknown means that there is none yet; then the status
	// of the backend does not change.
	State check.State
	// Outcome is that of this check alone. Unknown leaves everything but Validation.Err as it was.
	Outcome check.Outcome
	Err     string
	Latency time.Duration
	// At is the end of the check; zero means now.
	At time.Time
}

// Declaration is a backend as configuration or the API declares it.
type Declaration struct {
	ID     ID
	Weight int
	Region string
	// Agent is the id of the agent whose own server this is, "" for none: without it, what an agent says about the server
	// does not count against this node's own checks that succeed.
	Agent string
	// Check is one handle for all backends that are checked alike: there may be 400 000. The zero Handle is that of the
	// zero Spec.
	Check unique.Handle[check.Spec]
	Host  Host
}

// Host is the host name that a backend is an address of. The addresses of a host name share its weight equally.
type Host struct {
	Name      string // the host name, "" for none
	Addresses int    // how many addresses it has
	FromAPI   bool   // by the API, and not by the files
}

// CheckTarget is one backend that this node should check itself. Times that its Spec lacks are the node's own.
type CheckTarget struct {
	ID   ID
	Spec check.Spec
	// WasUnhealthy tells that the only thing known of the backend is that it was unhealthy when there last was evidence.
	// The first check reads it; TargetsGeneration does not change with it.
	WasUnhealthy bool
}
