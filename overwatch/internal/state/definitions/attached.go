package definitions

import (
	"context"

	"gslb.internal/overwatch/internal/state/store"
)

// Attached are changes of another owner that are stored in the same transaction as definitions, and reach DNS in the
// same publication. The zero Attached is none.
type Attached struct {
	// Store adds the changes to a batch, and Undo what takes them back.
	Store, Undo func(*store.Batch)
	// Declare makes what is new or changed known once it is stored, before any name is decided. Withdraw ends what is
	// gone, once DNS answers by the definitions.
	Declare, Withdraw func(context.Context) error
}

// Any reports whether there are any changes.
func (a Attached) Any() bool { return a.Store != nil }
