// Package document compares documents with the objects of the API, and applies documents to them. A document is a list
// of regions, domains, servers, mappings, agents and settings.
package document

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// Definitions holds the definitions of the API; control.Plane implements it.
type Definitions interface {
	Defined() (*definitions.Set, *config.Config)
	// DefineWith makes a change together with changes of another owner. When it returns, both are on disk with the audit
	// entry, and in the answers. make changes the draft after all checks, and must not block. Other goroutines may call
	// make, even more than once.
	DefineWith(note store.Entry, make func(*definitions.Draft) error, with definitions.Attached) error
	// Draft calls make on a draft and discards the draft.
	Draft(make func(*definitions.Draft) error) error
	// Preview returns the unsigned view, after a change, of the names for which wanted returns true, with the given
	// backends. It changes no state. It returns settings.Problems for an invalid object.
	Preview(change func(*definitions.Draft) error, backends publish.Backends,
		wanted func(name string) bool) (*zone.View,
		error)
}

// Inventory stores the servers of the API; inventory.Inventory implements it.
type Inventory interface {
	Get(registry.ID) (model.Server, bool)
	// All returns the servers ordered by service, address and port.
	All() []model.Server
	// Apply stores servers and deletes others, all or none. It calls commit.
	Apply(ctx context.Context, puts []model.Server, gone []registry.ID, commit func(definitions.Attached) error) error
}

// Options holds the parts that a Planner calls. Every field is required.
type Options struct {
	Edit        *objects.Editor
	Impact      *impact.Assessor
	Definitions Definitions
	Inventory   Inventory
	View        *registry.View
	// Flush returns when all changes made before the call are in the answers of DNS.
	Flush func(context.Context) error
	// Now returns the time.
	Now func() time.Time
}

// Planner reads documents and creates plans. It is stateless. The caller serializes Plan and Store of stored plans.
type Planner struct {
	o Options
	// allowed reports whether the scope of the operator includes an object of a kind; nil: it includes every object.
	allowed func(kind string, object any) bool
}

// New returns a Planner.
func New(o Options) *Planner { return &Planner{o: o} }

// Within returns a Planner for an operator with a scope. It exports only objects of the scope, and rejects documents
// with other objects. allowed reports whether the scope includes an object; nil: it includes every object.
func (pl *Planner) Within(allowed func(kind string, object any) bool) *Planner {
	return &Planner{pl.o, allowed}
}

// includes reports whether the scope of the operator includes an object.
func (pl *Planner) includes(kind string, object any) bool {
	return pl.allowed == nil || pl.allowed(kind, object)
}
