package failback_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

const name = "app.example"

var (
	manual = model.Failback{Manual: true}
	after  = model.Failback{After: settings.Duration(10 * time.Minute)}
)

// disk is a store that can be full.
type disk struct {
	*store.Store
	mu   sync.Mutex
	full bool
}

func (d *disk) fill(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *disk) Write(b *store.Batch, with ...store.Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return errors.New("the disk is full")
	}
	return d.Store.Write(b, with...)
}

// world is a Tracker in virtual time.
type world struct {
	*failback.Tracker
	t       *testing.T
	disk    *disk
	mu      sync.Mutex
	changed int
	stop    func()
	listed  []string // regions in the settings of the domain
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(dir, store.Options{NodeID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w := &world{t: t, disk: &disk{Store: s}}
		w.start()
		defer func() { w.stop() }()
		test(w)
	})
}

func (w *world) start() {
	w.t.Helper()
	stored, err := w.disk.LoadFailbacks()
	if err != nil {
		w.t.Fatal(err)
	}
	w.Tracker = failback.New(failback.Options{Store: w.disk, Stored: stored, Logger: zerolog.Nop(),
		Changed: func(string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.changed++
		}})
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

// restart stops the Tracker and starts another with the stored regions.
func (w *world) restart() {
	w.stop()
	w.start()
}

// see passes a decision to the tracker. Regions with "down" are down, and regions that begin with "+" are in the
// answers.
func (w *world) see(setting model.Failback, regions ...string) {
	w.t.Helper()
	o := failback.Observation{Setting: setting, Listed: w.listed, IsConfigured: func(region string) bool {
		return !strings.HasPrefix(region, "other")
	}}
	for _, text := range regions {
		region, down, _ := strings.Cut(text, " ")
		region, used := strings.CutPrefix(region, "+")
		h := policy.RegionHealth{Region: region, Serving: 1, Required: 1}
		if down != "" {
			h.Serving, h.IsDown = 0, down == "down"
		}
		o.Regions = append(o.Regions, h)
		if used {
			o.InUse = append(o.InUse, region)
		}
	}
	w.Observe(name, o)
	synctest.Wait()
}

// want compares the regions that await failback, in memory and in the store.
func (w *world) want(regions ...string) {
	w.t.Helper()
	if got := w.Awaiting(name); !slices.Equal(got, regions) {
		w.t.Errorf("%v await failback, want %v", got, regions)
	}
	stored, err := w.disk.LoadFailbacks()
	if err != nil {
		w.t.Fatal(err)
	}
	var kept []string
	for _, f := range stored {
		kept = append(kept, f.Region)
	}
	if !slices.Equal(kept, regions) {
		w.t.Errorf("%v are stored, want %v", kept, regions)
	}
}

// A region that was in the answers and is down awaits failback, even after a restart. The request of an operator, or
// the end of all other regions, returns its clients.
func TestTracker_RegionThatWasDownAwaitsFailback(t *testing.T) {
	inWorld(t, func(w *world) {
		w.see(manual, "+a down", "b") // the first observation has no effect
		w.see(manual, "+a", "b")
		w.want()
		w.see(manual, "a down", "+b")
		w.want("a")
		if got := w.List(); len(got) != 1 || got[0].CanServe() || got[0].Domain != name || got[0].Region != "a" {
			t.Errorf("the list: %+v", got)
		}
		w.see(manual, "a", "+b")
		if got := w.Of(name); len(got) != 1 || !got[0].CanServe() || !got[0].ReturnsAt.IsZero() ||
			fmt.Sprint(w.InUse(name)) != "[b]" {
			t.Errorf("the region: %+v, in use %v", got, w.InUse(name))
		}
		w.restart()
		w.want("a")
		w.see(manual, "a", "+b")
		w.see(manual, "a", "b down") // b and then nothing
		w.see(manual, "+a", "b down")
		w.want("b")
		w.Remove(name, "b")
		w.see(manual, "+a", "b")
		if got := w.Of(name); len(got) != 0 {
			t.Errorf("after failback: %+v", got)
		}
	})
}

// Regions of operators, new backends and regions without clients do not await failback, and neither do regions of a
// name without any answer.
func TestTracker_OnlyFailuresOfRegionsInUseCount(t *testing.T) {
	inWorld(t, func(w *world) {
		w.see(manual, "+a", "b", "c")
		w.see(manual, "+a", "b down", "c")
		w.want()
		w.see(manual, "a withdrawn", "b", "+c")
		w.want()
		w.see(manual, "+a", "b", "c")
		w.see(manual, "a down", "b down", "c down") // no answer
		w.want()
		w.see(manual, "+a", "b down", "c down")
		w.want()
		w.see(manual, "a down", "b down", "c down")
		w.see(manual, "a down", "+b", "c down")
		w.want("a")
	})
}

// A region that serves only the clients without an alternative, such as clients of IPv6, awaits failback until no other
// region answers.
func TestTracker_WaitsWhileAnotherRegionAnswers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.see(manual, "+a", "b")
		w.see(manual, "a down", "+b")
		w.see(manual, "+a", "+b")
		w.see(manual, "+a", "+b")
		w.want("a")
		w.see(manual, "+a", "b down")
		w.want("b")
	})
}

// A standby of backends without a region keeps the clients, and awaits no failback.
func TestTracker_BackendsWithoutRegionAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.see(manual, "+a")
		w.see(manual, "+", "a down")
		w.want("a")
		w.see(manual, "+", "a")
		w.want("a")
		if got := w.InUse(name); got == nil || len(got) > 0 {
			t.Errorf("in use: %#v", got)
		}
		w.see(manual, "+a")
		w.want()
	})
}

// A change of another node applies, and has no effect on other regions: if no other region can serve here, the region
// answers and still awaits failback.
func TestTracker_FollowsOtherNodes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.see(manual, "+a", "b down")
		w.Follow(store.Failback{Domain: name, Region: "a", Since: time.Now()}, true)
		w.see(manual, "+a", "b down")
		if got := w.Awaiting(name); len(got) != 1 {
			t.Errorf("%v await failback", got)
		}
		w.see(manual, "a", "+b")
		w.Follow(store.Failback{Domain: name, Region: "a"}, false)
		w.see(manual, "+a", "b")
		w.want()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.changed != 2 {
			t.Errorf("%d changes were reported", w.changed)
		}
	})
}

// With a time, clients return after the region could serve for this time without interruption.
func TestTracker_ReturnsAfterTheTime(t *testing.T) {
	inWorld(t, func(w *world) {
		w.see(after, "+a", "b")
		w.see(after, "a down", "+b")
		pass := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		pass(time.Hour)
		w.see(after, "a", "+b")
		if got := w.Of(name); got[0].ReturnsAt != time.Now().Add(10*time.Minute) {
			t.Errorf("it returns at %v", got[0].ReturnsAt)
		}
		pass(9 * time.Minute)
		w.see(after, "a down", "+b")
		w.see(after, "a", "+b")
		pass(10*time.Minute - time.Second)
		w.want("a")
		pass(time.Second)
		w.want()
	})
}

// A failed write is retried. The end of the setting ends the wait.
func TestTracker_RetriesAFailedWrite(t *testing.T) {
	inWorld(t, func(w *world) {
		w.disk.fill(true)
		w.see(manual, "+a", "b")
		w.see(manual, "a down", "+b")
		w.disk.fill(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		w.want("a")
		w.Release(name)
		synctest.Wait()
		w.want()
		if got := w.InUse(name); got != nil {
			t.Errorf("in use are %v", got)
		}
	})
}

// Many regions are stored in several transactions.
func TestTracker_StoresManyRegions(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 2500 {
			each := func(aDown bool) {
				a := policy.RegionHealth{Region: "a", Serving: 1, Required: 1}
				o := failback.Observation{Setting: manual, InUse: []string{"a"}, Listed: []string{"a"}}
				if aDown {
					a.Serving, a.IsDown, o.InUse = 0, true, []string{"b"}
				}
				o.Regions = []policy.RegionHealth{a, {Region: "b", Serving: 1, Required: 1}}
				w.Observe(fmt.Sprintf("n%d.example", i), o)
			}
			each(false)
			each(true)
		}
		synctest.Wait()
		if stored, err := w.disk.LoadFailbacks(); err != nil || len(stored) != 2500 || len(w.List()) != 2500 {
			t.Errorf("%d are stored, %d listed, %v", len(stored), len(w.List()), err)
		}
	})
}
