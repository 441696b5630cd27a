package definitions

import (
	"context"

	"gslb.internal/overwatch/internal/state/store"
)

// Attached contains changes of another owner for the transaction and the publication of a change of definitions. The
// zero Attached contains no changes.
type Attached struct {
	// Store adds the changes to a batch. Undo adds their reversal.
	Store, Undo func(*store.Batch)
	// Declare declares new and changed objects after they were stored, and before the decisions of names. Withdraw removes
	// the deleted objects after DNS answers reflect the definitions.
	Declare, Withdraw func(context.Context) error
}

// Any reports whether there are any changes.
func (a Attached) Any() bool { return a.Store != nil }
