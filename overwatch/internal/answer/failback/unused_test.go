package failback_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

// failOver makes region a await failback, in answers of b.
func (w *world) failOver() {
	w.t.Helper()
	w.see(manual, "+a", "b")
	w.see(manual, "a down", "+b")
	w.want("a")
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A setting that became automatic before a restart ends the wait: it does not return with a later setting.
func TestTracker_ReleasesStoredWaitsAfterARestart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.failOver()
		w.restart()
		w.want("a")
		w.Release(name) // the first plan of the publisher
		synctest.Wait()
		w.want()
	})
}

// A disabled domain keeps its waits for a maintenance, and loses them later. A restart starts the time again.
func TestTracker_DeletesTheWaitsOfARemovedDomain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.failOver()
		w.Suspend(name)
		if got := w.List(); len(got) > 0 {
			t.Errorf("pending of a removed domain: %+v", got)
		}
		pass(23 * time.Hour)
		w.want("a")
		w.see(manual, "a", "+b") // enabled again
		pass(48 * time.Hour)
		w.want("a")
		w.Suspend(name)
		pass(23 * time.Hour)
		w.restart()
		pass(23 * time.Hour)
		w.want("a")
		pass(2 * time.Hour)
		w.want()
	})
}

// A region that was removed from the configuration is not pending. Its wait ends later, and continues if the region
// returns earlier.
func TestTracker_DeletesTheWaitOfARemovedRegion(t *testing.T) {
	inWorld(t, func(w *world) {
		w.listed = []string{"a", "b"}
		w.failOver()
		w.see(manual, "+b") // without backends
		if got := w.List(); len(got) != 1 || got[0].CanServe() {
			t.Errorf("a listed region without backends: %+v", got)
		}
		w.listed = []string{"b"}
		w.see(manual, "+b")
		if got := w.List(); len(got) > 0 {
			t.Errorf("pending: %+v", got)
		}
		pass(23 * time.Hour)
		w.see(manual, "a", "+b")
		if got := w.List(); len(got) != 1 || !got[0].CanServe() {
			t.Errorf("a region that returned: %+v", got)
		}
		w.see(manual, "+b")
		pass(25 * time.Hour)
		w.want()
	})
}

// A node without the domain, or with another setting, does not end the waits of other nodes.
func TestTracker_KeepsTheWaitsOfOtherNodes(t *testing.T) {
	inWorld(t, func(w *world) {
		f := store.Failback{Domain: name, Region: "a", Since: time.Now()}
		var b store.Batch
		b.PutFailback(f)
		if err := w.disk.Write(&b); err != nil {
			t.Fatal(err)
		}
		w.Follow(f, true)
		w.Release(name)
		pass(48 * time.Hour)
		w.Suspend(name)
		pass(48 * time.Hour)
		w.want("a")
	})
}

// Agents name regions freely. Only regions of the configuration begin to await failback.
func TestTracker_RegionsOfAgentsAwaitNoFailback(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 10 {
			a, b := fmt.Sprint("other", i), fmt.Sprint("other", i+1)
			w.see(manual, "+"+a, b)
			w.see(manual, a+" down", "+"+b)
		}
		w.want()
		w.listed = []string{"other1"}
		w.see(manual, "+other1", "b")
		w.see(manual, "other1 down", "+b")
		w.want("other1")
	})
}

// A change of another node that is older than an unsaved change of this node has no effect.
func TestTracker_UnsavedChangesPrecedeOtherNodes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.disk.fill(true)
		w.see(manual, "+a", "b")
		w.see(manual, "a down", "+b")
		w.Follow(store.Failback{Domain: name, Region: "a"}, false)
		w.disk.fill(false)
		pass(time.Minute)
		w.want("a")
	})
}
