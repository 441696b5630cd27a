package fault

import (
	"context"
	"errors"

	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/settings"
)

// Of converts an error of any package to a rejection. known is false for a fault of the node, which the operator does
// not see.
func Of(err error) (e *Error, known bool) {
	if e, is := errors.AsType[*Error](err); is {
		return e, true
	}
	if problems, is := errors.AsType[settings.Problems](err); is {
		return Invalidf("%s", problems.Error()), true
	}
	switch {
	case errors.Is(err, trust.ErrNotPinned):
		return NotFoundf("no agent of that id is pinned"), true
	case errors.Is(err, trust.ErrNotLocked):
		return NotFoundf("no token of that service is locked"), true
	case errors.Is(err, registry.ErrUnknownBackend):
		return NotFoundf("no such backend is known"), true
	case errors.Is(err, registry.ErrNoAdminState):
		return NotFoundf("there is no such active override"), true
	case errors.Is(err, inventory.ErrExists): // with the server's id
		return Invalidf("%v", err), true
	case errors.Is(err, inventory.ErrUnknown):
		return NotFoundf("no such server was created through the API"), true
	case errors.Is(err, inventory.ErrFull):
		return Fullf("%v", inventory.ErrFull), true
	case errors.Is(err, store.ErrNotDurable):
		return Fullf("nothing was changed, because it could not be stored: the disk of this node is full or failing"),
			true
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err,
		registry.ErrStopped):
		return New(Unavailable, "the node is stopping or too busy to do this in time: try again"), true
	}
	return nil, false
}

// IsRejection reports whether an error rejects the operator's input. The state is then unchanged.
func IsRejection(err error) bool {
	e, known := Of(err)
	return known && e.Kind != Full && e.Kind != Unavailable
}
