// Package inventory is the owner of the servers that the API has created: it keeps them in the store and declares them to the
// registry, in that order, so that a server which somebody was told of is there after any crash. It does not own backends that
// configuration or an agent declares, and decides nothing about who may serve.
//
// Methods may be called from any goroutine; changes are made one after the other.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/overwatch/internal/store"
)

// MaxServers bounds what the API may create.
const MaxServers = 100_000

// Errors of changes, which callers tell apart.
var (
	ErrExists  = errors.New("exists already")
	ErrUnknown = errors.New("was not created through the API")
	ErrFull    = fmt.Errorf("there are %d servers of the API already, which is the most", MaxServers)
)

// Store keeps servers. A call returns when the change is on disk; an error means that nothing was changed.
type Store interface {
	PutServer(store.Server) error
	DeleteServer(service string, address netip.Addr, port uint16) error
}

// Registry is what is known about backends.
type Registry interface {
	Declare(context.Context, registry.Declaration) error
	Withdraw(context.Context, registry.ID) error
	View() *registry.View
}

// Options is what an Inventory needs.
type Options struct {
	// Servers are those that the store has.
	Servers  []store.Server
	Store    Store
	Registry Registry
}

// Inventory is the servers that the API has created.
type Inventory struct {
	store    Store
	registry Registry

	mu      sync.Mutex // held during a change
	servers map[registry.ID]store.Server
}

// New declares the stored servers to the registry, which must run.
func New(ctx context.Context, o Options) (*Inventory, error) {
	inv := &Inventory{store: o.Store, registry: o.Registry, servers: make(map[registry.ID]store.Server, len(o.Servers))}
	for _, s := range o.Servers {
		id, err := registry.NewID(s.Service, s.Address, s.Port)
		if err != nil {
			return nil, fmt.Errorf("stored server of %s: %w", s.Service, err)
		}
		if err := o.Registry.Declare(ctx, declaration(id, s)); err != nil {
			return nil, fmt.Errorf("declaring the stored server %s: %w", id, err)
		}
		inv.servers[id] = s
	}
	return inv, nil
}

// Get returns a server that the API has created.
func (inv *Inventory) Get(id registry.ID) (store.Server, bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	s, ok := inv.servers[id]
	return s, ok
}

// Create adds a server. It is on disk and in the registry's view when Create returns. It wraps ErrExists if anybody has
// declared that backend already, and ErrFull.
func (inv *Inventory) Create(ctx context.Context, s store.Server) error {
	id, err := registry.NewID(s.Service, s.Address, s.Port)
	if err != nil {
		return err
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	switch _, ours := inv.servers[id]; {
	case ours || inv.registry.View().Get(id) != nil:
		return fmt.Errorf("server %s %w", id, ErrExists)
	case len(inv.servers) >= MaxServers:
		return ErrFull
	}
	if err := inv.put(ctx, id, s); err != nil {
		return errors.Join(err, inv.store.DeleteServer(id.Service, id.Address, id.Port))
	}
	return nil
}

// Change applies edit to a server that the API has created and returns it as it was and as it is. It wraps ErrUnknown if
// there is none.
func (inv *Inventory) Change(ctx context.Context, id registry.ID, edit func(*store.Server)) (before, after store.Server, err error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	before, ours := inv.servers[id]
	if !ours {
		return before, before, fmt.Errorf("server %s %w", id, ErrUnknown)
	}
	after = before
	edit(&after)
	if err := inv.put(ctx, id, after); err != nil {
		return before, before, errors.Join(err, inv.store.PutServer(before))
	}
	return before, after, nil
}

// Remove deletes a server that the API has created. It wraps ErrUnknown if there is none.
func (inv *Inventory) Remove(ctx context.Context, id registry.ID) error {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if _, ours := inv.servers[id]; !ours {
		return fmt.Errorf("server %s %w", id, ErrUnknown)
	}
	if err := inv.store.DeleteServer(id.Service, id.Address, id.Port); err != nil {
		return err
	}
	delete(inv.servers, id)
	return inv.registry.Withdraw(ctx, id)
}

// put stores a server, then declares it.
func (inv *Inventory) put(ctx context.Context, id registry.ID, s store.Server) error {
	if err := inv.store.PutServer(s); err != nil {
		return err
	}
	if err := inv.registry.Declare(ctx, declaration(id, s)); err != nil {
		return err
	}
	inv.servers[id] = s
	return nil
}

func declaration(id registry.ID, s store.Server) registry.Declaration {
	return registry.Declaration{ID: id, Weight: s.Weight, Region: s.Region, Check: s.Check}
}
