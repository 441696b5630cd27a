package inventory_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func running(t *testing.T) *registry.Registry {
	t.Helper()
	r, _ := stoppable(t)
	return r
}

// stoppable returns a registry that runs until stop is called or the test ends.
func stoppable(t *testing.T) (r *registry.Registry, stop func()) {
	t.Helper()
	r, err := registry.New(registry.Options{
		Timing:  registry.Timing{StaleThreshold: time.Minute, RemoveAfter: time.Hour},
		Changed: func(string) {}, Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return r, stop
}

func server(last byte) model.Server {
	return model.Server{Service: "app.example", Address: netip.AddrFrom4([4]byte{192, 0, 2, last}), Port: 80, Weight: 5,
		Region: "eu", HealthCheck: &model.HealthCheck{Type: "tcp"}}
}

// disk is the part of a store that stores servers.
type disk interface {
	Write(*store.Batch, ...store.Entry) error
}

// apply stores servers and deletes others.
func apply(ctx context.Context, inv *inventory.Inventory, d disk, puts []model.Server, gone ...registry.ID) error {
	return inv.Apply(ctx, puts, gone, func(a definitions.Attached) error {
		var b store.Batch
		a.Store(&b)
		if err := d.Write(&b); err != nil {
			return err
		}
		return errors.Join(a.Declare(ctx), a.Withdraw(ctx))
	})
}

// weighing returns a server with a weight.
func weighing(s model.Server, weight int) []model.Server {
	s.Weight = weight
	return []model.Server{s}
}

func begin(t *testing.T, s *store.Store, r *registry.Registry) *inventory.Inventory {
	t.Helper()
	servers, err := s.LoadServers()
	if err != nil {
		t.Fatal(err)
	}
	inv, err := inventory.New(t.Context(), inventory.Options{Servers: servers, Registry: r})
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestInventory_WhatItAcknowledgedIsThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	inv := begin(t, s, running(t))
	for last := byte(1); last <= 3; last++ {
		if err := apply(t.Context(), inv, s, []model.Server{server(last)}); err != nil {
			t.Fatal(err)
		}
	}
	id, _ := registry.NewID("app.example", netip.MustParseAddr("192.0.2.2"), 80)
	if err := apply(t.Context(), inv, s, weighing(server(2), 9)); err != nil {
		t.Fatalf("change: %v", err)
	}
	gone, _ := registry.NewID("app.example", netip.MustParseAddr("192.0.2.3"), 80)
	if err := apply(t.Context(), inv, s, nil, gone); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	again := running(t)
	begin(t, s, again)
	if b := again.View().Get(id); b == nil || b.Weight != 9 {
		t.Errorf("after the restart: %+v", b)
	}
	if b := again.View().Get(gone); b != nil {
		t.Errorf("deleted, and back: %+v", b)
	}
}

func TestInventory_RefusesWhatIsThereAndWhatIsNot(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	r := running(t)
	inv := begin(t, s, r)
	static, _ := registry.NewID("app.example", netip.MustParseAddr("192.0.2.1"), 80)
	if err := r.SetStaticDeclarations(t.Context(), []registry.Declaration{
		{ID: static, Weight: 1, Check: unique.Make(check.Spec{Type: check.TCP})}}); err != nil {
		t.Fatal(err)
	}
	if err := apply(t.Context(), inv, s, weighing(server(1), 5)); !errors.Is(err, inventory.ErrExists) {
		t.Errorf("creating what configuration declares: %v", err)
	}
	if err := apply(t.Context(), inv, s, nil, static); !errors.Is(err, inventory.ErrUnknown) {
		t.Errorf("removing what configuration declares: %v", err)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write(*store.Batch, ...store.Entry) error {
	return fmt.Errorf("server: %w", store.ErrNotDurable)
}

func TestInventory_WhatIsNotStoredIsNotDeclared(t *testing.T) {
	r := running(t)
	inv, err := inventory.New(t.Context(), inventory.Options{Registry: r})
	if err != nil {
		t.Fatal(err)
	}
	if err := apply(t.Context(), inv, full{}, weighing(server(1), 5)); !errors.Is(err, store.ErrNotDurable) {
		t.Errorf("got %v", err)
	}
	if services := r.View().Services(); len(services) != 0 {
		t.Errorf("declared: %v", services)
	}
}

// leaving is a registry whose caller cancels while the registry applies a declaration.
type leaving struct {
	*registry.Registry
	leave func()
}

func (l *leaving) Declare(ctx context.Context, puts []registry.Declaration, gone []registry.ID) error {
	l.leave()
	if err := l.Registry.ChangeDeclarations(context.WithoutCancel(ctx), puts, gone); err != nil {
		return err
	}
	return ctx.Err()
}

func TestInventory_ACallerWhoGivesUpLeavesNothingHalfDone(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	r := &leaving{running(t), func() {}}
	inv, err := inventory.New(t.Context(), inventory.Options{Registry: r})
	if err != nil {
		t.Fatal(err)
	}
	// hasty returns the context of such a caller.
	hasty := func() (ctx context.Context) {
		ctx, r.leave = context.WithCancel(t.Context())
		return ctx
	}
	id, _ := registry.NewID("app.example", server(1).Address, 80)
	for range 2 {
		if err := apply(hasty(), inv, s, weighing(server(1), 5)); err != nil {
			t.Fatalf("creating: %v", err)
		}
		if err := apply(hasty(), inv, s, weighing(server(1), 9)); err != nil {
			t.Errorf("changing: %v", err)
		}
		stored, err := s.LoadServers()
		if known, ours := inv.Get(id); err != nil || len(stored) != 1 || stored[0].Weight != 9 || !ours ||
			known.Weight != 9 || r.View().Get(id).Weight != 9 {
			t.Errorf("stored %+v, known %+v, %v", stored, known, err)
		}
		if err := apply(hasty(), inv, s, nil, id); err != nil || r.View().Get(id) != nil {
			t.Fatalf("removing: %v; the registry has %+v", err, r.View().Get(id))
		}
	}
}
