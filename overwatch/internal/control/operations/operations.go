// Package operations makes the changes that operators request: changes of API objects, changes of overlays of
// configured objects, applies of documents, and undos of earlier changes. Each change is stored with its audit entry,
// and an operation returns when DNS answers contain the change.
package operations

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/document"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Definitions holds the definitions of the API; control.Plane implements it.
type Definitions interface {
	// Defined returns the current definitions without definitions of names that the file has, and the file with the
	// overlays and settings of the API. Both are immutable. Defined does not block.
	Defined() (*definitions.Set, *config.Config)
	// Define makes a change. When it returns, the change is on disk with its audit entry, and in the answers. make checks
	// the draft before it changes the draft, so that an error, which Define returns, leaves the draft unchanged. make can
	// be called more than once, by another goroutine, and must not block. The error is settings.Problems for a definition
	// that cannot be served.
	Define(note store.Entry, make func(*definitions.Draft) error) error
}

// Inventory holds the servers of the API; inventory.Inventory implements it.
type Inventory interface {
	Get(registry.ID) (model.Server, bool)
}

// AppliedStore stores the changes of applies, for their undo. A call returns when the change is on disk.
type AppliedStore interface {
	PutApplied(name string, state []byte) error
	// Applied returns a stored state, or nil if the state is missing.
	Applied(name string) ([]byte, error)
	DeleteApplied(name string) error
}

// Options holds the parts that operations call. Every field is required, except Rolls.
type Options struct {
	Changes     *changes.Changes
	Edit        *objects.Editor
	Impact      *impact.Assessor
	Planner     *document.Planner
	Definitions Definitions
	Inventory   Inventory
	Applied     AppliedStore
	Rolls       Rolls // nil if the node does not sign
	View        *registry.View
	Audit       *audit.Log
	// Flush returns when all changes made before the call are in the answers of DNS.
	Flush  func(context.Context) error
	Logger zerolog.Logger
	Now    func() time.Time
}

// Operations makes changes. Its methods may be called concurrently.
type Operations struct {
	o         Options
	undoKinds map[string]undoKind // see undoKindOf
}

// New returns an Operations.
func New(o Options) *Operations {
	op := &Operations{o: o}
	op.undoKinds = op.newUndoKinds()
	return op
}

// Request is an operator's request for a change. It belongs to a single goroutine.
type Request struct {
	Context context.Context //nolint:containedctx // of the request of a client
	Actor   changes.Actor
	Role    api.Role // of the operator; empty: no role is required
	// Scope limits the objects of the request; nil: no limits.
	Scope *model.TokenScope
	// Condition is the state that the request demands of the object.
	Condition objects.Condition
	IfSafe    bool // reject a change that leaves a name with insufficient backends
	Force     bool // replace a planned admin state
	Replace   bool // omitted fields are set to their defaults (PUT)
	// Audited reports that the audit log has an entry of the change, or of its failure. An operation sets it.
	Audited bool
}

// Change describes a change for the logs.
type Change struct {
	Action, Resource, ID string
	Before, After        any // nil: no object
	// Configured has the values of the file for the fields of an overlay; nil: no overlay.
	Configured map[string]json.RawMessage
	Undoes     uint64 // the audit entry of the change that this change undoes, or 0
}
