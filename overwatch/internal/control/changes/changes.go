// Package changes makes all changes of operator state: admin states of backends (overrides, weights and drains),
// servers, definitions, documents, pins and revocations of agents, locks of tokens, and mass-failure holds. It
// validates a change and computes its effect on answers. It stores the objects with the audit entry in one transaction.
// Then it publishes the change to the registry and to DNS. Admin states of other nodes pass the same checks.
//
// The methods of Changes may be called concurrently. A change that removes backends from answers excludes all other
// changes; changes that only add objects run together.
package changes

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// timeout is the maximum time of a change from the disk to DNS, including the wait for DNS. A change continues after
// its client disconnects.
const timeout = 10 * time.Second

// Registry is the part of package registry that a change publishes to. A call returns when readers of the view see its
// effect.
type Registry interface {
	SetAdminState(context.Context, registry.AdminState) error
	ClearAdminState(ctx context.Context, kind api.OrderKind, service string, address netip.Addr, port uint16) error
	EndLeftDrain(ctx context.Context, id registry.ID) (ended bool, err error)
	DrainTime(service string) time.Duration
	RemoveAgent(ctx context.Context, agentID string) error
	ReleaseServiceHold(ctx context.Context, service string) ([]registry.ID, error)
	ReleaseAgentHold(ctx context.Context, agentID string) ([]registry.ID, error)
	ReleaseRegionHold(ctx context.Context, name string) ([]registry.ID, error)
}

// Store writes a batch and audit entries in a single transaction. An error leaves the store unchanged.
type Store interface {
	Write(*store.Batch, ...store.Entry) error
}

// Options holds the parts that a change reaches. Every field is required, except Now.
type Options struct {
	View     *registry.View
	Registry Registry
	Store    Store
	// Servers holds the servers of the API.
	Servers Servers
	// Agents holds the pinned agents and the locked tokens.
	Agents Agents
	// Failbacks has the regions that await failback.
	Failbacks *failback.Tracker
	// Definitions holds the other objects of the API.
	Definitions Definitions
	Audit       *audit.Log
	// Impact computes the effect of a change on answers.
	Impact *impact.Assessor
	// Flush returns when all changes made before the call are in the answers of DNS.
	Flush  func(context.Context) error
	Logger zerolog.Logger
	Now    func() time.Time // nil is time.Now
}

// Changes applies the changes of operators and of other nodes.
type Changes struct {
	o Options
	// mu excludes concurrent changes. Changes that remove backends from answers lock it for writing, so that two of them
	// cannot together remove the last backends of a name. Changes that only add objects lock it for reading.
	mu sync.RWMutex
}

// New returns a Changes.
func New(o Options) *Changes {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Changes{o: o}
}

// Actor is the author of a change, as in the audit log.
type Actor struct {
	Name, IP  string
	RequestID string
	Group     string // the client's id that groups the requests of a change; optional
}

// Change is a change of operator state.
type Change struct {
	Actor  Actor
	Object Object
	// Precondition rejects a change if the object is not in the state that the client expects. Its argument is the current
	// object, or nil if there is none. A nil Precondition accepts all states.
	Precondition func(now any) error
	// Covers reports whether the scope of the operator includes all objects; nil: it includes every object.
	Covers func(...model.ScopedObject) bool
	// IfSafe rejects a change that leaves a name with too few backends.
	IfSafe bool
	// Force allows a change to replace a planned admin state.
	Force bool
	// Undoes is the id of the audit entry of the undone change; 0: this change does not undo another.
	Undoes uint64
}

// Object is the object of a change with its next state.
type Object interface {
	// Plan validates the next state against the current state and adds the steps of the change to t. It has no side
	// effects. Its error rejects the change.
	Plan(ctx context.Context, t *Transaction) error
}

// Result is the outcome of a change.
type Result struct {
	Audited bool // the audit log has an entry of the change, or of its failure
}

// adding is an Object that only adds objects. Such changes run concurrently.
type adding interface{ adds() bool }

// Apply makes a change, and returns when DNS answers contain it. A rejected change has no effect. After a later error,
// such as a shutdown of the node, the change is stored.
func (c *Changes) Apply(ctx context.Context, change Change) (Result, error) {
	if a, is := change.Object.(adding); is && a.adds() && !change.IfSafe {
		defer c.shared()()
	} else {
		defer c.exclusive()()
	}
	return c.Commit(ctx, change)
}

// Commit is Apply without the exclusion of other changes, for changes in the order of the control plane.
func (c *Changes) Commit(ctx context.Context, change Change) (Result, error) {
	t := &Transaction{c: c, change: &change, began: time.Now()}
	if err := t.plan(ctx); err != nil || t.unchanged {
		return Result{}, err
	}
	return t.commit(ctx)
}

// Record appends an audit entry of an action that changes no object. began is its start and err its result. change
// contains the actor.
func (c *Changes) Record(change Change, e Entry, began time.Time, err error) {
	(&Transaction{c: c, change: &change, began: began, Entry: e}).record(err)
}

// exclusive waits until no other change is in progress, and delays other changes until the caller calls release. The
// caller must not call Apply before release.
func (c *Changes) exclusive() (release func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

// shared delays changes that remove objects until the caller calls release.
func (c *Changes) shared() (release func()) {
	c.mu.RLock()
	return c.mu.RUnlock
}

// stamp returns a time in the format of the API: UTC, in milliseconds.
func stamp(t time.Time) time.Time { return api.Moment(t).Truncate(time.Millisecond) }
