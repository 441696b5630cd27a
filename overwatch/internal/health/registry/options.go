package registry

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/state/store"
)

// Timing has the durations of overwatch.stale, overwatch.validation and overwatch.flapping of the configuration.
type Timing struct {
	// StaleThreshold is the silence after which the reports of an agent are stale.
	StaleThreshold time.Duration
	// RemoveAfter is the silence after which the backends of an agent are removed and other agents may report them.
	RemoveAfter time.Duration
	// ValidationEnabled is true if this node makes own checks.
	ValidationEnabled bool
	// ValidationInterval is the time between two own checks of a backend. A result expires after three intervals.
	ValidationInterval time.Duration
	// FlapWindow is the length of the window for flapping: a backend flaps if its last three stops are in the window. Zero
	// means DefaultFlapWindow.
	FlapWindow time.Duration
	// Agreement has the settings of agreement between nodes.
	Agreement status.Agreement
}

func (t *Timing) flapWindow() time.Duration { return cmp.Or(t.FlapWindow, DefaultFlapWindow) }

// The defaults of the specification.
const (
	DefaultStaleThreshold     = 30 * time.Second
	DefaultRemoveAfter        = 5 * time.Minute
	DefaultValidationInterval = 30 * time.Second
	DefaultFlapWindow         = 10 * time.Minute
	// DefaultDrainTime is the default duration of a drain: the default TTL of answers.
	DefaultDrainTime = 30 * time.Second
)

// check returns an error for the first invalid setting.
func (t Timing) check() error {
	switch {
	case t.StaleThreshold <= 0:
		return fmt.Errorf("stale threshold %v: must be above zero", t.StaleThreshold)
	case t.RemoveAfter < t.StaleThreshold:
		return fmt.Errorf("remove after %v: must not be below the stale threshold, %v", t.RemoveAfter, t.StaleThreshold)
	case t.ValidationEnabled && t.ValidationInterval <= 0:
		return fmt.Errorf("validation interval %v: must be above zero", t.ValidationInterval)
	}
	return nil
}

// Options configures a Registry. The writer calls the functions. They must not block and must not call the Registry.
type Options struct {
	Timing
	// Changed is called after a change of a service that may change its answers is published: backends, serving state,
	// weights, regions and shares. Required.
	Changed func(service string)
	// Restored has the stored records. The registry owns the slice, so the caller must not change it.
	Restored []store.Status
	// Allowed reports whether an agent may report a backend. Restored reports of other agents are ignored. Required if
	// Restored is set.
	Allowed func(agentID string, id ID) bool
	// CheckPolicy returns how this node may check an agent's backend. ApplyPolicies applies a change. Nil means the zero
	// CheckPolicy for all backends.
	CheckPolicy func(ID) CheckPolicy
	// RegionName returns the configured spelling of a region, and unknown regions unchanged. ApplyPolicies applies a
	// change. Nil returns all regions unchanged.
	RegionName func(text string) string
	// AdminStates are the stored admin states. The registry calls AdminStateExpired for expired admin states, and
	// AdminStateBegan for admin states that have begun since they were stored.
	AdminStates []AdminState
	// AdminStateBegan is called when a scheduled admin state begins, AdminStateExpired when an admin state expires.
	// Optional.
	AdminStateBegan, AdminStateExpired func(AdminState)
	// Protection returns the settings of the mass-failure protection of a service, or of agents and regions for "".
	// SetTiming applies a change. Nil disables mass-failure protection.
	Protection func(service string) status.Protection
	// HoldChanged is called for each hold that begins or ends. Optional.
	HoldChanged func(HoldChange)
	// BackendHeld is called for each backend that a hold begins to cover, so that this node checks it. Optional.
	BackendHeld func(ID)
	// AgentLate is called for each backend of an agent with a late heartbeat, so that this node checks the backend soon:
	// at most once per agent and stale threshold. Optional.
	AgentLate func(ID)
	// ReportContradicts is called for a backend when the report of its agent changes and contradicts the own check of this
	// node, so that this node checks it soon. The limits are those of FailureSeen. Optional.
	ReportContradicts func(ID)
	// FailureSeen is called for a serving backend after the first failed own check, and when its agent begins to report
	// unhealthy, so that other nodes check it. Reports of an agent cause at most a call for each of wire.MaxBackends
	// backends, and then one per second. Optional.
	FailureSeen func(ID)
	// FailureDisputed is called for each backend with a failure that begins to wait for votes of other nodes. Optional.
	FailureDisputed func(ID)
	// Statuses stores the records that must survive a restart. Nil disables storage.
	Statuses StatusStore
	// DrainTime returns the default duration of a drain of a service's backends. Any goroutine may call it. Nil means
	// DefaultDrainTime.
	DrainTime func(service string) time.Duration
	// Damping returns the delay of flapping backends of a service. A change applies to later stops. Nil disables the
	// delay.
	Damping func(service string) status.Damping
	// RecoveryRamp returns the time in which the share of a backend of a service rises to 1 after the backend was down.
	// 0 means immediately. A change applies to later recoveries. Nil means 0 for all services.
	RecoveryRamp func(service string) time.Duration
	// Now is the clock, with a monotonic reading. Nil means time.Now.
	Now    func() time.Time
	Logger zerolog.Logger
}

// complete checks o and sets the defaults of unset functions.
func (o *Options) complete() error {
	if err := o.Timing.check(); err != nil {
		return err
	}
	if o.Changed == nil {
		return errors.New("registry: Changed is not set")
	}
	if len(o.Restored) > 0 && o.Allowed == nil {
		return errors.New("registry: Restored is set and Allowed is not")
	}
	if o.CheckPolicy == nil {
		o.CheckPolicy = func(ID) CheckPolicy { return CheckPolicy{} }
	}
	if o.RegionName == nil {
		o.RegionName = func(text string) string { return text }
	}
	if o.AdminStateBegan == nil {
		o.AdminStateBegan = func(AdminState) {}
	}
	if o.AdminStateExpired == nil {
		o.AdminStateExpired = func(AdminState) {}
	}
	if o.Protection == nil {
		o.Protection = func(string) status.Protection { return status.Protection{} }
	}
	if o.HoldChanged == nil {
		o.HoldChanged = func(HoldChange) {}
	}
	if o.BackendHeld == nil {
		o.BackendHeld = func(ID) {}
	}
	if o.AgentLate == nil {
		o.AgentLate = func(ID) {}
	}
	if o.ReportContradicts == nil {
		o.ReportContradicts = func(ID) {}
	}
	if o.FailureSeen == nil {
		o.FailureSeen = func(ID) {}
	}
	if o.FailureDisputed == nil {
		o.FailureDisputed = func(ID) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Damping == nil {
		o.Damping = func(string) status.Damping { return status.Damping{} }
	}
	if o.RecoveryRamp == nil {
		o.RecoveryRamp = func(string) time.Duration { return 0 }
	}
	if o.DrainTime == nil {
		o.DrainTime = func(string) time.Duration { return DefaultDrainTime }
	}
	return nil
}
