package changes

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Servers holds the servers of the API; inventory.Inventory implements it.
type Servers interface {
	Get(registry.ID) (model.Server, bool)
	// Apply stores servers and deletes others with commit, all or none.
	Apply(ctx context.Context, puts []model.Server, gone []registry.ID, commit func(definitions.Attached) error) error
}

// CreateServer is the Object that creates a server.
type CreateServer struct {
	Server model.Server
	// Resource is the name of the object in the audit log.
	Resource string
	// InRegion rejects a missing region; nil accepts each region. No region is deleted during the change.
	InRegion func() error
}

func (s CreateServer) adds() bool { return true }

// Plan implements Object.
func (s CreateServer) Plan(_ context.Context, t *Transaction) error {
	id := registry.ID{Service: s.Server.Service, Address: s.Server.Address, Port: s.Server.Port}
	if s.InRegion != nil {
		if err := s.InRegion(); err != nil {
			return err
		}
	}
	if _, exists := t.c.o.Servers.Get(id); exists || t.c.o.View.Get(id) != nil {
		return fmt.Errorf("server %s %w", id, inventory.ErrExists)
	}
	t.Entry = Entry{Action: api.AuditCreate, Resource: s.Resource, ID: id.String(), After: s.Server}
	t.putServer(id, nil, s.Server)
	return nil
}

// EditServer is the Object that changes a server.
type EditServer struct {
	ID       registry.ID
	Resource string
	// InRegion is as in CreateServer.
	InRegion func() error
	// Covered returns the input of the precondition; nil: the server.
	Covered func(model.Server) any
	// Edit changes the server. An error of Edit is a rejection.
	Edit func(*model.Server) error

	// After is the server that Plan has made.
	After model.Server
}

// Plan implements Object.
func (s *EditServer) Plan(_ context.Context, t *Transaction) error {
	before, err := t.present(s.ID)
	if err != nil {
		return err
	}
	if s.InRegion != nil {
		if err := s.InRegion(); err != nil {
			return err
		}
	}
	var covered any = before
	if s.Covered != nil {
		covered = s.Covered(before)
	}
	if err := t.accepts(covered); err != nil {
		return err
	}
	s.After = before
	if err := s.Edit(&s.After); err != nil {
		return err
	}
	t.Entry = Entry{Action: api.AuditUpdate, Resource: s.Resource, ID: s.ID.String(), Before: before,
		After: s.After}
	t.putServer(s.ID, &before, s.After)
	return nil
}

// DeleteServer is the Object that deletes a server, with its weights and drains.
type DeleteServer struct {
	ID       registry.ID
	Resource string
	// May rejects the deletion of a server; nil accepts each deletion.
	May func(model.Server) error
	// Stays reports whether another source declares or reports a backend.
	Stays func(registry.ID) bool
}

// Plan implements Object.
func (s DeleteServer) Plan(_ context.Context, t *Transaction) error {
	before, err := t.present(s.ID)
	if err != nil {
		return err
	}
	if s.May != nil {
		if err := s.May(before); err != nil {
			return err
		}
	}
	if err := t.accepts(before); err != nil {
		return err
	}
	t.Entry = Entry{Action: api.AuditDelete, Resource: s.Resource, ID: s.ID.String(), Before: before}
	t.Removes(impact.OfServer(s.ID))
	t.gone = append(t.gone, s.ID)
	t.expect(s.ID, &before)
	t.publish = append(t.publish, func(ctx context.Context) error {
		return t.c.EndAdminStatesOf(ctx, []registry.ID{s.ID}, s.Stays)
	})
	return nil
}

// present returns a server of the API.
func (t *Transaction) present(id registry.ID) (model.Server, error) {
	server, exists := t.c.o.Servers.Get(id)
	if !exists {
		return server, fmt.Errorf("server %s %w", id, inventory.ErrUnknown)
	}
	return server, nil
}

// putServer adds the steps that store and declare a server. before is nil for a new server.
func (t *Transaction) putServer(id registry.ID, before *model.Server, after model.Server) {
	t.puts = append(t.puts, after)
	t.expect(id, before)
}

func (t *Transaction) expect(id registry.ID, before *model.Server) {
	if t.expected == nil {
		t.expected = make(map[registry.ID]*model.Server)
	}
	t.expected[id] = before
}

// writeServers stores and declares servers together with the other steps of the change.
func (t *Transaction) writeServers(ctx context.Context, note store.Entry) error {
	return t.c.o.Servers.Apply(ctx, t.puts, t.gone, func(servers definitions.Attached) error {
		if err := t.checkServers(); err != nil {
			return err
		}
		servers.Store(&t.batch)
		if err := t.c.o.Store.Write(&t.batch, note); err != nil {
			return err
		}
		t.stored = true
		err := errors.Join(servers.Declare(ctx), servers.Withdraw(ctx))
		if err != nil { // the registry has stopped, and the caller receives an error
			var back store.Batch
			servers.Undo(&back)
			err = errors.Join(err, t.c.o.Store.Write(&back))
		}
		return err
	})
}

// checkServers rejects the change if another node or another request has changed one of its servers since Plan.
func (t *Transaction) checkServers() error {
	for id, before := range t.expected {
		switch now, exists := t.c.o.Servers.Get(id); {
		case before == nil && exists:
			return fmt.Errorf("server %s %w", id, inventory.ErrExists)
		case before != nil && (!exists || !reflect.DeepEqual(&now, before)):
			return fault.Conflictf("server %s has changed at the same time: nothing was changed, try again", id)
		}
	}
	return nil
}
