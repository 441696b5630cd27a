package changes_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// world is a Changes over a real registry, store and audit log, with two backends.
type world struct {
	*testing.T
	changes  *changes.Changes
	registry *registry.Registry
	store    *store.Store
	audit    *audit.Log
	servers  *inventory.Inventory
	stop     func()      // ends the registry
	full     atomic.Bool // nothing can be stored
	flushed  atomic.Int64
}

// Write implements changes.Store.
func (w *world) Write(b *store.Batch, with ...store.Entry) error {
	if w.full.Load() {
		return fmt.Errorf("a batch: %w", store.ErrNotDurable)
	}
	return w.store.Write(b, with...)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func newWorld(t *testing.T) *world {
	w := &world{T: t}
	var err error
	w.store, err = store.Open(t.TempDir(), store.Options{Logger: zerolog.Nop()})
	w.must(err)
	t.Cleanup(func() { _ = w.store.Close() })
	w.audit, err = audit.Open(audit.Options{Store: w.store, Retention: time.Hour, Logger: zerolog.Nop()})
	w.must(err)
	w.registry, err = registry.New(registry.Options{Changed: func(string) {}, Logger: zerolog.Nop(),
		Timing: registry.Timing{StaleThreshold: time.Minute, RemoveAfter: time.Hour}})
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.registry.Run(ctx) })
	w.stop = func() { cancel(); running.Wait() }
	t.Cleanup(w.stop)
	w.servers, err = inventory.New(t.Context(), inventory.Options{Registry: w.registry})
	w.must(err)
	var declared []registry.Declaration
	for _, text := range []string{"app.example:192.0.2.1:80", "app.example:192.0.2.2:80"} {
		id, err := registry.ParseID(text)
		w.must(err)
		declared = append(declared, registry.Declaration{ID: id, Weight: 100,
			Check: unique.Make(check.Spec{Type: check.TCP})})
	}
	w.must(w.registry.SetStaticDeclarations(t.Context(), declared))
	flush := func(context.Context) error { w.flushed.Add(1); return nil }
	w.changes = changes.New(changes.Options{View: w.registry.View(), Registry: w.registry, Store: w,
		Servers: w.servers, Audit: w.audit,
		Flush: flush, Logger: zerolog.Nop(), Impact: impact.New(impact.Options{View: w.registry.View(),
			DNSView: func() *zone.View { return new(zone.View) }, Flush: flush, Decisions: decisions.New(1, nil),
			Now: time.Now})})
	return w
}

func target(address string) changes.Target {
	return changes.Target{Service: "app.example", Address: netip.MustParseAddr(address), Port: 80}
}

func weight(address string, n int) *changes.SetAdminState {
	return &changes.SetAdminState{Kind: api.OrderWeight, Target: target(address), Weight: &n, Reason: "r"}
}

func (w *world) apply(object changes.Object) error {
	_, err := w.changes.Apply(w.Context(), changes.Change{Object: object, Actor: changes.Actor{Name: "alice"}})
	return err
}

// entries returns the audit entries in a short form, the newest first.
func (w *world) entries() string {
	w.Helper()
	var list []string
	for e, err := range w.audit.Newest(audit.Changes) {
		w.must(err)
		list = append(list, e.Action+" "+e.ResourceID+" "+e.Actor+" "+e.Status)
	}
	return strings.Join(list, ", ")
}

// stored returns the weights on disk in short.
func (w *world) stored() string {
	w.Helper()
	all, err := w.store.LoadOrders()
	w.must(err)
	var list []string
	for _, o := range all {
		list = append(list, fmt.Sprint(o.Address, " ", o.Weight))
	}
	return strings.Join(list, ", ")
}

func TestApply_StoresTheAdminStateWithItsAuditEntry(t *testing.T) {
	w := newWorld(t)
	w.must(w.apply(weight("192.0.2.1", 7)))
	if got := w.stored(); got != "192.0.2.1:80 7" || w.flushed.Load() != 1 {
		t.Errorf("stored %q, %d flushes", got, w.flushed.Load())
	}
	if got := w.entries(); got != "weight app.example:192.0.2.1:80 alice success" {
		t.Errorf("audit log: %s", got)
	}
	w.must(w.apply(changes.EndAdminState{Kind: api.OrderWeight, Target: target("192.0.2.1")}))
	if got := w.stored(); got != "" || len(w.registry.View().AdminStates()) != 0 {
		t.Errorf("after the end: %q, %v", got, w.registry.View().AdminStates())
	}
}

func TestApply_AFullDiskChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.must(w.apply(weight("192.0.2.1", 7)))
	w.full.Store(true)
	for _, object := range []changes.Object{weight("192.0.2.1", 8), weight("192.0.2.2", 8),
		changes.EndAdminState{Kind: api.OrderWeight, Target: target("192.0.2.1")}} {
		if err := w.apply(object); !errors.Is(err, store.ErrNotDurable) {
			t.Errorf("%+v: %v", object, err)
		}
	}
	if list := w.registry.View().AdminStates(); len(list) != 1 || list[0].Weight != 7 || w.stored() != "192.0.2.1:80 7" {
		t.Errorf("in force %+v, stored %s", list, w.stored())
	}
	if got := w.entries(); strings.Count(got, "failure") != 3 {
		t.Errorf("audit log: %s", got)
	}
}

func TestApply_ARejectionIsNoChange(t *testing.T) {
	w := newWorld(t)
	for what, object := range map[string]changes.Object{"range": weight("192.0.2.1", 1001),
		"unknown backend": weight("192.0.2.9", 5),
		"no weight":       changes.EndAdminState{Kind: api.OrderWeight, Target: target("192.0.2.1")}} {
		if _, rejected := errors.AsType[*fault.Error](w.apply(object)); !rejected {
			t.Errorf("%s was accepted", what)
		}
	}
	_, err := w.changes.Apply(t.Context(), changes.Change{Object: weight("192.0.2.1", 5),
		Precondition: func(now any) error { return fault.New(fault.Precondition, "now %v", now) }})
	if err == nil || err.Error() != "now <nil>" {
		t.Errorf("precondition: %v", err)
	}
	if w.entries() != "" || w.stored() != "" || w.flushed.Load() != 0 {
		t.Errorf("%q %q, %d flushes", w.entries(), w.stored(), w.flushed.Load())
	}
}

// The registry and the disk have the same last state after many concurrent changes.
func TestApply_TwoAtATimeEndAlike(t *testing.T) {
	w := newWorld(t)
	var group sync.WaitGroup
	for n := range 16 {
		group.Go(func() {
			if err := w.apply(weight("192.0.2.1", n)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	list := w.registry.View().AdminStates()
	if len(list) != 1 || w.stored() != fmt.Sprint("192.0.2.1:80 ", list[0].Weight) {
		t.Errorf("in force %+v, stored %s", list, w.stored())
	}
}

func server(weight int) model.Server {
	return model.Server{Service: "app.example", Address: netip.MustParseAddr("192.0.2.3"), Port: 80, Weight: weight}
}

var serverID = registry.ID{Service: "app.example", Address: netip.MustParseAddr("192.0.2.3"), Port: 80}

// storedServers returns the weights of the servers on disk.
func (w *world) storedServers() string {
	w.Helper()
	all, err := w.store.LoadServers()
	w.must(err)
	var list []string
	for _, s := range all {
		list = append(list, fmt.Sprint(s.Weight))
	}
	return strings.Join(list, " ")
}

func TestServer_IsStoredWithItsAuditEntry(t *testing.T) {
	w := newWorld(t)
	w.must(w.apply(changes.CreateServer{Server: server(1), Resource: "server"}))
	edit := &changes.EditServer{ID: serverID, Resource: "server",
		Edit: func(s *model.Server) error { s.Weight = 2; return nil }}
	w.must(w.apply(edit))
	if got := w.storedServers(); got != "2" || edit.After.Weight != 2 || w.registry.View().Get(serverID).Weight != 2 {
		t.Errorf("stored %q", got)
	}
	drain := &changes.SetAdminState{Kind: api.OrderDrain, Target: target("192.0.2.3"), Duration: "1m"}
	w.must(w.apply(drain))
	gone := changes.DeleteServer{ID: serverID, Resource: "server", Stays: func(registry.ID) bool { return false }}
	w.must(w.apply(gone))
	if w.storedServers() != "" || w.registry.View().Get(serverID) != nil || len(w.registry.View().AdminStates()) != 0 {
		t.Errorf("after the deletion: %q, %v", w.storedServers(), w.registry.View().AdminStates())
	}
	const id = " app.example:192.0.2.3:80 alice success"
	want := strings.Join([]string{"delete" + id, "drain" + id, "update" + id, "create" + id}, ", ")
	if got := w.entries(); got != want {
		t.Errorf("audit log: %s", got)
	}
	if err := w.apply(gone); !errors.Is(err, inventory.ErrUnknown) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestServer_OfManyEqualCreationsOneSucceeds(t *testing.T) {
	w := newWorld(t)
	var group sync.WaitGroup
	var created, refused atomic.Int32
	for n := range 8 {
		group.Go(func() {
			switch err := w.apply(changes.CreateServer{Server: server(n + 1), Resource: "server"}); {
			case err == nil:
				created.Add(1)
			case errors.Is(err, inventory.ErrExists):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if created.Load() != 1 || refused.Load() != 7 {
		t.Errorf("%d created, %d refused", created.Load(), refused.Load())
	}
	if got := w.entries(); strings.Contains(got, ",") || !strings.Contains(got, "create") {
		t.Errorf("audit log: %s", got)
	}
}

func TestServer_NothingIsStoredAfterTheEndOfTheRegistry(t *testing.T) {
	w := newWorld(t)
	w.stop()
	if err := w.apply(changes.CreateServer{Server: server(1), Resource: "server"}); !errors.Is(err,
		registry.ErrStopped) {
		t.Errorf("created: %v", err)
	}
	if got := w.storedServers(); got != "" {
		t.Errorf("stored %q", got)
	}
}

func TestFollow_AnAdminStateOfAnotherNodePassesTheSameChecks(t *testing.T) {
	w := newWorld(t)
	good := store.Order{Kind: api.OrderWeight, Service: "app.example", Address: "192.0.2.9:80", Weight: 5, Reason: "r"}
	follow := func(o store.Order, there bool) error {
		return w.changes.FollowAdminState(t.Context(), func() (store.Order, bool, error) { return o, there, nil })
	}
	for what, spoil := range map[string]func(*store.Order){
		"weight":  func(o *store.Order) { o.Weight = 1001 },
		"reason":  func(o *store.Order) { o.Reason = "a\nb" },
		"service": func(o *store.Order) { o.Service = "APP.example." },
		"address": func(o *store.Order) { o.Address = "web1" },
	} {
		bad := good
		if spoil(&bad); follow(bad, true) == nil {
			t.Errorf("a wrong %s was accepted", what)
		}
	}
	w.must(follow(good, true)) // of a backend that only the other node knows
	if list := w.registry.View().AdminStates(); len(list) != 1 || list[0].Weight != 5 {
		t.Errorf("%+v", list)
	}
	w.must(follow(good, false))
	w.must(follow(good, false)) // twice, as after a lost answer
	if list := w.registry.View().AdminStates(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
