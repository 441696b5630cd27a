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

// Timing has the durations of the configuration's overwatch.stale, overwatch.validation and overwatch.flapping.
type Timing struct {
	// StaleThreshold is the silence after which an agent's claims are stale.
	StaleThreshold time.Duration
	// RemoveAfter is the silence after which an agent's backends are removed and others may claim them.
	RemoveAfter time.Duration
	// ValidationEnabled tells that verdicts of this node's own checks are expected.
	ValidationEnabled bool
	// ValidationInterval is the time between two checks of one backend: a verdict older than three of them counts as none.
	ValidationInterval time.Duration
	// FlapWindow is the time within which the last three stops of a flapping backend are. 0: DefaultFlapWindow.
	FlapWindow time.Duration
}

func (t *Timing) flapWindow() time.Duration { return cmp.Or(t.FlapWindow, DefaultFlapWindow) }

// The reference values of the specification.
const (
	DefaultStaleThreshold     = 30 * time.Second
	DefaultRemoveAfter        = 5 * time.Minute
	DefaultValidationInterval = 30 * time.Second
	DefaultFlapWindow         = 10 * time.Minute
	// DefaultDrainTime is the duration of a drain where nothing says otherwise: the default TTL of answers.
	DefaultDrainTime = 30 * time.Second
)

// check returns an error that names the first setting that cannot work.
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

// Options configures a Registry.
type Options struct {
	Timing
	// Changed is called with a service whenever something that its answers may depend on has changed and is published: its
	// backends, which of them may serve, their weights, regions and shares. The writer calls it, so it must not block and
	// must not call a command. Required.
	Changed func(service string)
	// Restored holds the store's records. The registry keeps it, so the caller must not change it.
	Restored []store.Status
	// Allowed reports whether an agent may claim a backend at present: restored claims that nobody may make any more are
	// not believed. New calls it, and the writer for backends that are declared later; it must not call the Registry. It
	// may be nil if Restored is empty.
	Allowed func(agentID string, id ID) bool
	// CheckPolicy returns how this node may check an agent's backend. It is asked by New and by the writer, so it must be
	// quick and must not call the Registry; see RecheckPolicies. Nil means the zero CheckPolicy for all.
	CheckPolicy func(ID) CheckPolicy
	// RegionName returns the name of the region that a declaration or an agent names in any case, and other texts as they
	// are. New and the writer call it, so it must not block and must not call the Registry; see RecheckPolicies. Nil: all
	// texts are names.
	RegionName func(text string) string
	// AdminStates are the stored orders. Those that have expired are given to Expired, those that have begun to Began.
	AdminStates []AdminState
	// AdminStateBegan is called for each order with a beginning of its own when that has come, Expired for each that ends
	// because its time is over; both also for those in Orders. New and the writer call them, so they must not block and
	// must not call a command. Nil: nobody is told.
	AdminStateBegan, AdminStateExpired func(AdminState)
	// Protection returns the brake of a service. The writer asks it, so it must be quick and must not call the Registry;
	// see Retime. Nil: there is none.
	Protection func(service string) status.Protection
	// HoldChanged is called for each brake that begins or ends. The writer calls it, so it must not block and must not
	// call a command. Nil: nobody is told.
	HoldChanged func(HoldChange)
	// BackendHeld is called for each backend that a brake begins to hold, so that this node checks it at once. It must
	// obey the same rules as Braked. Nil: nobody is told.
	BackendHeld func(ID)
	// Statuses keeps the records that must outlive the process; nil: nothing does.
	Statuses StatusStore
	// DrainTime returns how long a drain of a service's backend takes by default; nil means DefaultDrainTime. Any
	// goroutine may call it.
	DrainTime func(service string) time.Duration
	// Now is the clock, with a monotonic reading; nil means time.Now.
	Now    func() time.Time
	Logger zerolog.Logger
}

// complete checks o and fills in what may be left out.
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
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.DrainTime == nil {
		o.DrainTime = func(string) time.Duration { return DefaultDrainTime }
	}
	return nil
}
