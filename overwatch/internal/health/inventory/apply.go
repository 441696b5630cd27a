package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// All returns the servers that the API has created, sorted by service, address and port, in a new slice.
func (inv *Inventory) All() []model.Server {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return slices.SortedFunc(maps.Values(inv.servers), func(a, b model.Server) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), a.Address.Compare(b.Address), cmp.Compare(a.Port, b.Port))
	})
}

// Apply stores servers and deletes others, all of them or none. commit stores the batch of its argument and calls
// Declare and Withdraw. After an error of commit, Apply restores the previous declarations. The error wraps ErrExists
// if the configuration or an agent declares a new server, ErrUnknown if a server to delete does not exist, or ErrFull.
func (inv *Inventory) Apply(ctx context.Context, puts []model.Server, gone []registry.ID,
	commit func(definitions.Attached) error) error {
	batch, err := inv.takeAll(ctx, puts, gone)
	defer batch.release()
	if err != nil {
		return err
	}
	declared := false
	err = commit(definitions.Attached{Store: batch.store, Undo: batch.undo,
		Declare: func(ctx context.Context) error {
			declared = true
			return inv.declare(ctx, batch.puts, nil)
		},
		Withdraw: func(ctx context.Context) error { return inv.declare(ctx, nil, batch.gone) }})
	if err == nil || !declared {
		return err
	}
	var new []registry.ID
	for id := range batch.puts {
		if _, there := batch.before[id]; !there {
			new = append(new, id)
		}
	}
	return errors.Join(err, inv.declare(ctx, batch.before, new))
}

// together is the set of servers that an Apply has reserved (see take).
type together struct {
	puts     map[registry.ID]model.Server
	gone     []registry.ID
	before   map[registry.ID]model.Server // the previous versions of the existing servers
	releases []func()
}

// takeAll reserves the servers in the order of their ids, so that concurrent calls cannot deadlock.
func (inv *Inventory) takeAll(ctx context.Context, puts []model.Server, gone []registry.ID) (*together, error) {
	b := &together{puts: make(map[registry.ID]model.Server, len(puts)), gone: gone,
		before: make(map[registry.ID]model.Server)}
	ids := slices.Clone(gone)
	for _, s := range puts {
		id, err := registry.NewID(s.Service, s.Address, s.Port)
		if err != nil {
			return b, err
		}
		b.puts[id] = s
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y registry.ID) int { return cmp.Compare(x.String(), y.String()) })
	for _, id := range ids {
		now, ours, release, err := inv.reserve(ctx, id)
		if err != nil {
			return b, err
		}
		b.releases = append(b.releases, release)
		_, put := b.puts[id]
		switch {
		case ours:
			b.before[id] = now
		case !put:
			return b, fmt.Errorf("server %s %w", id, ErrUnknown)
		case inv.registry.View().Get(id) != nil:
			return b, fmt.Errorf("server %s %w", id, ErrExists)
		}
	}
	if inv.full() {
		return b, ErrFull
	}
	return b, nil
}

func (b *together) release() {
	for _, release := range b.releases {
		release()
	}
}

func (b *together) store(batch *store.Batch) {
	for _, s := range b.puts {
		batch.PutServer(s)
	}
	for _, id := range b.gone {
		batch.DeleteServer(id.Service, id.Address, id.Port)
	}
}

func (b *together) undo(batch *store.Batch) {
	for id := range b.puts {
		if _, there := b.before[id]; !there {
			batch.DeleteServer(id.Service, id.Address, id.Port)
		}
	}
	for _, s := range b.before {
		batch.PutServer(s)
	}
}
