package changes

import (
	"context"
	"errors"
	"fmt"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
)

// CheckAdminState returns the faults of an admin state from this node's API or from another node.
func CheckAdminState(stored *store.Order) error {
	o, err := restore.OrderOf(*stored)
	if err == nil {
		err = o.Validate()
	}
	if err == nil {
		err = checkCanonical(o, stored)
	}
	return errors.Join(err, definitions.CheckOrder(stored))
}

// checkCanonical rejects a non-canonical service or address: other nodes would use another key.
func checkCanonical(o registry.AdminState, stored *store.Order) error {
	id, err := registry.NewID(o.Service, o.Address, max(o.Port, 1))
	if err != nil {
		return err
	}
	canonical := registry.AdminState{Service: id.Service, Address: id.Address, Port: o.Port}
	if canonical.Endpoint() != stored.Address || canonical.Service != stored.Service {
		return fmt.Errorf("%s %s is not in the canonical form %s", stored.Service, stored.Address, TargetOf(canonical))
	}
	return nil
}

// FollowAdminState applies an admin state of another node after a merge into the store. read returns the stored admin
// state. The result there of read is false for a deleted admin state, which has only kind, service and address. The
// backends of the target may be unknown.
func (c *Changes) FollowAdminState(ctx context.Context, read func() (o store.Order, there bool, err error)) error {
	defer c.exclusive()()
	stored, there, err := read()
	if err != nil {
		return err
	}
	o, err := restore.OrderOf(stored)
	if err != nil {
		return err
	}
	if !there {
		return c.clear(ctx, o)
	}
	if err := CheckAdminState(&stored); err != nil {
		return err
	}
	return c.o.Registry.SetAdminState(ctx, o)
}
