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
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/check"
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

func server(last byte) store.Server {
	return store.Server{Service: "app.example", Address: netip.AddrFrom4([4]byte{192, 0, 2, last}), Port: 80, Weight: 5,
		Region: "eu", Check: check.Spec{Type: check.TCP}}
}

func willing(store.Server) error { return nil }

func begin(t *testing.T, s *store.Store, r *registry.Registry) *inventory.Inventory {
	t.Helper()
	servers, err := s.LoadServers()
	if err != nil {
		t.Fatal(err)
	}
	inv, err := inventory.New(t.Context(), inventory.Options{Servers: servers, Store: s, Registry: r})
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
		if err := inv.Create(t.Context(), server(last), nil); err != nil {
			t.Fatal(err)
		}
	}
	id, _ := registry.NewID("app.example", netip.MustParseAddr("192.0.2.2"), 80)
	if after, err := inv.Change(t.Context(), id, nil,
		func(s *store.Server) error { s.Weight = 9; return nil }); err != nil || after.Weight != 9 {
		t.Fatalf("change: %+v, %v", after, err)
	}
	gone, _ := registry.NewID("app.example", netip.MustParseAddr("192.0.2.3"), 80)
	if err := inv.Remove(t.Context(), gone, nil, willing); err != nil {
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
	if err := r.SetStatic(t.Context(), []registry.Declaration{
		{ID: static, Weight: 1, Check: unique.Make(check.Spec{Type: check.TCP})}}); err != nil {
		t.Fatal(err)
	}
	if err := inv.Create(t.Context(), server(1), nil); !errors.Is(err, inventory.ErrExists) {
		t.Errorf("creating what configuration declares: %v", err)
	}
	if err := inv.Remove(t.Context(), static, nil, willing); !errors.Is(err, inventory.ErrUnknown) {
		t.Errorf("removing what configuration declares: %v", err)
	}
	if _, err := inv.Change(t.Context(), static, nil, func(*store.Server) error { return nil }); !errors.Is(err,
		inventory.ErrUnknown) {
		t.Errorf("changing what configuration declares: %v", err)
	}
}

// full is a disk that takes nothing.
type full struct{}

func (full) PutServer(store.Server, ...store.Entry) error {
	return fmt.Errorf("server: %w", store.ErrNotDurable)
}
func (full) DeleteServer(string, netip.Addr, uint16, ...store.Entry) error {
	return fmt.Errorf("server: %w", store.ErrNotDurable)
}

func TestInventory_WhatIsNotStoredIsNotDeclared(t *testing.T) {
	r := running(t)
	inv, err := inventory.New(t.Context(), inventory.Options{Store: full{}, Registry: r})
	if err != nil {
		t.Fatal(err)
	}
	if err := inv.Create(t.Context(), server(1), nil); !errors.Is(err, store.ErrNotDurable) {
		t.Errorf("got %v", err)
	}
	if services := r.View().Services(); len(services) != 0 {
		t.Errorf("declared: %v", services)
	}
}

// leaving is a registry whose caller gives up while it applies a declaration.
type leaving struct {
	*registry.Registry
	leave func()
}

func (l *leaving) Declare(ctx context.Context, puts []registry.Declaration, gone []registry.ID) error {
	l.leave()
	if err := l.Registry.Declare(context.WithoutCancel(ctx), puts, gone); err != nil {
		return err
	}
	return ctx.Err()
}

func TestInventory_ACallerWhoGivesUpLeavesNothingHalfDone(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	r := &leaving{running(t), func() {}}
	inv, err := inventory.New(t.Context(), inventory.Options{Store: s, Registry: r})
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
		if err := inv.Create(hasty(), server(1), nil); err != nil {
			t.Fatalf("creating: %v", err)
		}
		if after, err := inv.Change(hasty(), id, nil,
			func(s *store.Server) error { s.Weight = 9; return nil }); err != nil || after.Weight != 9 {
			t.Errorf("changing: %+v, %v", after, err)
		}
		stored, err := s.LoadServers()
		if known, ours := inv.Get(id); err != nil || len(stored) != 1 || stored[0].Weight != 9 || !ours ||
			known.Weight != 9 || r.View().Get(id).Weight != 9 {
			t.Errorf("stored %+v, known %+v, %v", stored, known, err)
		}
		if err := inv.Remove(hasty(), id, nil, willing); err != nil || r.View().Get(id) != nil {
			t.Fatalf("removing: %v; the registry has %+v", err, r.View().Get(id))
		}
	}
}

func TestInventory_EndsWithTheRegistry(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	r, stop := stoppable(t)
	inv := begin(t, s, r)
	stop()
	if err := inv.Create(t.Context(), server(1), nil); !errors.Is(err, registry.ErrStopped) {
		t.Errorf("creating: %v", err)
	}
	if stored, err := s.LoadServers(); err != nil || len(stored) > 0 {
		t.Errorf("stored %+v, %v", stored, err)
	}
}
