// Package inventory owns the servers that the API has created: it declares them to the registry after its callers have
// stored them. Package changes changes servers through it, and package control has it follow changes of other nodes. It
// does not own backends that configuration or an agent declares, and decides nothing about who may serve.
//
// Methods may be called from any goroutine; changes of one server are made one after the other, those of several
// together.
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

// MaxServers bounds the servers that the API may create.
const MaxServers = 100_000

// Errors of changes, which callers tell apart.
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

// Inventory holds the servers that the API has created.
type Inventory struct {
	registry Registry

	mu      sync.Mutex
	servers map[registry.ID]model.Server
	busy    map[registry.ID]chan struct{} // servers that are being changed; closed when that is done
}

// New declares the stored servers to the registry, which must run.
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

// take reserves a server for one change; other calls for it wait until release is called, or until ctx ends. It returns
// the server as it is now; ours is false if the API has not created it.
func (inv *Inventory) take(ctx context.Context, id registry.ID) (now model.Server, ours bool, release func(),
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

// full reports whether no further server may be created. Servers that are being created count.
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

// Follow takes over a server that another node has created, changed or deleted. stored returns the server that the
// store has by now, nil for none. Like New, it declares the server even if this node's file or an agent declares the
// same backend.
func (inv *Inventory) Follow(ctx context.Context, id registry.ID, stored func() (*model.Server, error)) error {
	_, ours, release, err := inv.take(ctx, id)
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

// declare tells the registry of servers, and of others that are gone. The store has them so already, and what the
// registry applies after the end of a context would be reported as not done: so only the end of the registry stops it.
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
