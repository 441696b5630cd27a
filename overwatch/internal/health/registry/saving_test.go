package registry // inside: it uses minSaveInterval and tick

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/check"
)

func TestSaving_IsBatchedAndFollowsWhatIsGone(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		for i := range 40 { // ten changes per second
			w.beat(agent, a1+[]string{" healthy", " unhealthy"}[i%2])
			w.pass(100 * time.Millisecond)
		}
		if w.disk.batchCount() > 2 {
			t.Errorf("%d batches in four seconds", w.disk.batchCount())
		}
		w.beat(agent)
		w.pass(minSaveInterval + tick)
		if left := w.disk.all(); len(left) != 0 {
			t.Errorf("stored although gone: %v", left)
		}
		w.beat(agent, a1+" healthy")
		w.beat(agent)
		w.beat(agent, a1+" healthy")
		w.pass(minSaveInterval + tick)
		if left := w.disk.all(); len(left) != 1 || !left[0].Healthy {
			t.Errorf("gone and back between two batches, stored as %v", left)
		}
	})
}

func TestSaving_UnchangedStateCostsNothing(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		w.pass(10 * time.Second)
		if w.disk.batchCount() != 1 {
			t.Errorf("%d batches for one new backend", w.disk.batchCount())
		}
		w.verdict(a1, check.Success)
		w.pass(10 * time.Second)
		w.restart(Options{Timing: validating})
		w.must(w.SetStaticDeclarations(w.ctx(), []Declaration{static(a1)}))
		batches := w.disk.batchCount()
		for range 19 {
			w.pass(30 * time.Second)
			w.verdict(a1, check.Success)
		}
		if w.disk.batchCount() != batches {
			t.Errorf("%d batches for verdicts that confirm", w.disk.batchCount()-batches)
		}
	})
}

func TestSaving_AFullDiskTouchesNothingElseAndIsCaughtUpWith(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		agent := w.authority.agent("one", "eu", "a.example")
		w.beat(agent, a1+" healthy")
		w.pass(10 * time.Second)
		w.disk.fill(errors.New("no space left on device"))
		w.beat(agent, a2+" healthy")
		for range 12 {
			w.pass(10 * time.Second)
			w.beat(agent, a2+" healthy")
		}
		w.see(a2, agentHealthy)
		if n := strings.Count(w.log.String(), "no space left"); n < 1 || n > 3 {
			t.Errorf("said %d times in two minutes that the disk is full", n)
		}
		w.disk.fill(nil)
		w.pass(3 * minSaveInterval)
		if got := w.disk.all(); len(got) != 1 || savedID(got[0]) != id(a2) {
			t.Errorf("stored %v", got)
		}
	})
}

func TestSaving_ManyAreSavedInBoundedBatchesAndOnStop(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		var all []Declaration
		for i := range 3 * maxBatch {
			all = append(all, static(fmt.Sprintf("s%d:10.0.0.1:80", i)))
		}
		w.must(w.SetStaticDeclarations(w.ctx(), all))
		for _, d := range all {
			w.must(w.ApplyCheckResult(w.ctx(), CheckResult{ID: d.ID, State: check.StateHealthy, Outcome: check.Success}))
		}
		w.pass(minSaveInterval + tick)
		if n := len(w.disk.all()); n != maxBatch {
			t.Errorf("the first batch has %d", n)
		}
		w.pass(minSaveInterval + tick)
		if n := len(w.disk.all()); n != 2*maxBatch {
			t.Errorf("the first two batches have %d: the rest waits until something changes", n)
		}
		w.stop()
		if n := len(w.disk.all()); n != len(all) {
			t.Errorf("%d are saved after the stop, want %d", n, len(all))
		}
	})
}
