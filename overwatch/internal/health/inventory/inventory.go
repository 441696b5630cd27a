// Package inventory owns the servers that the API has created. It declares the servers to the registry after its
// callers have stored them. Package changes changes servers through it, and package control applies the changes of
// other nodes through it. Backends of the configuration and of agents, and their status, belong to other packages.
//
// Methods are safe for concurrent use. Changes of the same server run one after another, changes of different servers
// run concurrently.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"unique"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/model"
)

// MaxServers is the maximum number of servers that the API may create.
const MaxServers = 100_000

// Errors of changes.
var (
	ErrExists  = errors.New("exists already")
	ErrUnknown = errors.New("was not created through the API")
	ErrFull    = fmt.Errorf("there are %d servers of the API already, which is the most", MaxServers)
)

// Registry is the part of package registry to which an Inventory declares servers.
type Registry interface {
	ChangeDeclarations(ctx context.Context, puts []registry.Declaration, gone []registry.ID) error
	View() *registry.View
}

// Options configures an Inventory. All fields are required.
type Options struct {
	// Servers are the stored servers.
	Servers  []model.Server
	Registry Registry
}

// Inventory owns the servers that the API has created.
type Inventory struct {
	registry Registry

	mu      sync.Mutex
	servers map[registry.ID]model.Server
	busy    map[registry.ID]chan struct{} // servers with a change in progress; closed at the end of the change
}

// New declares the stored servers to the registry, which must be running.
func New(ctx context.Context, o Options) (*Inventory, error) {
	inv := &Inventory{registry: o.Registry, servers: make(map[registry.ID]model.Server),
		busy: make(map[registry.ID]chan struct{})}
	stored := make(map[registry.ID]model.Server, len(o.Servers))
	for _, s := range o.Servers {
		id, err := registry.NewID(s.Service, s.Address, s.Port)
		if err != nil {
			return nil, fmt.Errorf("stored server of %s: %w", s.Service, err)
		}
		stored[id] = s
	}
	if err := inv.declare(ctx, stored, nil); err != nil {
		return nil, fmt.Errorf("declaring the stored servers: %w", err)
	}
	return inv, nil
}

// Get returns a server that the API has created.
func (inv *Inventory) Get(id registry.ID) (model.Server, bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	s, ok := inv.servers[id]
	return s, ok
}

// reserve reserves a server for a change. Other calls for the server wait until the caller calls release, or until ctx
// ends. reserve returns the current server; ours is false if the API has not created it.
func (inv *Inventory) reserve(ctx context.Context, id registry.ID) (now model.Server, ours bool, release func(),
	err error) {
	for {
		inv.mu.Lock()
		other, busy := inv.busy[id]
		if !busy {
			break
		}
		inv.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return now, false, nil, ctx.Err()
		}
	}
	defer inv.mu.Unlock()
	done := make(chan struct{})
	inv.busy[id] = done
	now, ours = inv.servers[id]
	return now, ours, func() {
		inv.mu.Lock()
		defer inv.mu.Unlock()
		delete(inv.busy, id)
		close(done)
	}, nil
}

// full reports whether the inventory exceeds MaxServers, including the servers that are being created.
func (inv *Inventory) full() bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	count := len(inv.servers)
	for id := range inv.busy {
		if _, there := inv.servers[id]; !there {
			count++
		}
	}
	return count > MaxServers
}

// Follow applies the creation, change or deletion of a server by another node. stored returns the stored server, or nil
// if there is none. Like New, Follow declares the server even if the configuration or an agent declares the same
// backend.
func (inv *Inventory) Follow(ctx context.Context, id registry.ID, stored func() (*model.Server, error)) error {
	_, ours, release, err := inv.reserve(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	s, err := stored()
	switch {
	case err != nil:
		return err
	case s != nil:
		return inv.declare(ctx, map[registry.ID]model.Server{id: *s}, nil)
	case ours:
		return inv.declare(ctx, nil, []registry.ID{id})
	}
	return nil
}

// declare declares servers to the registry and withdraws others. The store already contains the change. A canceled
// context would report an error although the registry applies the change, so declare ignores the cancellation and
// returns only the errors of the registry.
func (inv *Inventory) declare(ctx context.Context, puts map[registry.ID]model.Server, gone []registry.ID) error {
	declarations := make([]registry.Declaration, 0, len(puts))
	for id, s := range puts {
		declarations = append(declarations, registry.Declaration{ID: id, Weight: s.Weight, Region: s.Region,
			Agent: s.Agent,
			Check: unique.Make(s.OwnCheck())})
	}
	if err := inv.registry.ChangeDeclarations(context.WithoutCancel(ctx), declarations, gone); err != nil {
		return err
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	maps.Copy(inv.servers, puts)
	for _, id := range gone {
		delete(inv.servers, id)
	}
	return nil
}
