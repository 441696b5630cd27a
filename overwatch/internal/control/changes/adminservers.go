package changes

import (
	"context"
	"errors"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// AdminStatesOf returns the weights and the drains of servers.
func (c *Changes) AdminStatesOf(servers []registry.ID) (list []registry.AdminState) {
	of := make(map[registry.ID]bool, len(servers))
	for _, id := range servers {
		of[id] = true
	}
	for _, o := range c.o.View.AdminStates() {
		if o.Kind != api.OrderOverride && of[registry.ID{Service: o.Service, Address: o.Address, Port: o.Port}] {
			list = append(list, o)
		}
	}
	return list
}

// EndAdminStatesOf ends the weights and drains of deleted servers, so that later servers at the same addresses do not
// inherit them. stays reports whether another source declares or reports a backend. Only a step of an exclusive change
// may call it.
func (c *Changes) EndAdminStatesOf(ctx context.Context, deleted []registry.ID, stays func(registry.ID) bool) error {
	var batch store.Batch
	var ended []registry.AdminState
	for _, o := range c.AdminStatesOf(deleted) {
		if !stays(registry.ID{Service: o.Service, Address: o.Address, Port: o.Port}) {
			batch.DeleteOrder(o.Kind, o.Service, o.Endpoint())
			ended = append(ended, o)
		}
	}
	return c.storeAdminStates(&batch, ended, func(o registry.AdminState) error { return c.clear(ctx, o) })
}

// RestoreAdminStates sets unexpired weights and drains of restored servers. Only a step of an exclusive change may call
// it.
func (c *Changes) RestoreAdminStates(ctx context.Context, records []api.Order) error {
	var batch store.Batch
	var restored []registry.AdminState
	for _, record := range records {
		o, known := AdminStateOf(record, c.o.Now())
		if _, again := c.AdminState(o.Kind, TargetOf(o)); !known || again || hasEnded(o, c.o.Now()) {
			continue
		}
		batch.PutOrder(restore.Order(o))
		restored = append(restored, o)
	}
	return c.storeAdminStates(&batch, restored, func(o registry.AdminState) error {
		return c.o.Registry.SetAdminState(ctx,
			o)
	})
}

// storeAdminStates stores a batch of admin states and then publishes each of them.
func (c *Changes) storeAdminStates(batch *store.Batch, list []registry.AdminState,
	publish func(registry.AdminState) error) error {
	if batch.Empty() {
		return nil
	}
	if err := c.o.Store.Write(batch); err != nil {
		return err
	}
	var failed []error
	for _, o := range list {
		failed = append(failed, publish(o))
	}
	return errors.Join(failed...)
}

// hasEnded reports whether an admin state has expired.
func hasEnded(o registry.AdminState, now time.Time) bool {
	return !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt)
}
