package roll_test

import (
	"fmt"
	"testing"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// A roll of each kind is cancelled when a node has reached each of its stages, while nodes are killed, disconnected and
// restored. No answer is bogus, and one key remains at the end. Random histories rarely cancel a roll in the middle.
func TestRoll_IsCancelledAtEachStage(t *testing.T) {
	count := *histories
	if testing.Short() { // with the race detector; a run without it plays all histories
		count /= 5
	}
	for _, kind := range []struct {
		name, algorithm string
		emergency       bool
		first           roll.Stage
	}{
		{"plain", "A", false, roll.Published},
		{"algorithm", "B", false, roll.Signing},
		{"emergency", "A", true, roll.Published},
		{"emergency algorithm", "B", true, roll.Signing},
	} {
		for stage := kind.first; stage < roll.Done; stage++ {
			t.Run(fmt.Sprintf("%s at %s", kind.name, stage), func(t *testing.T) {
				for seed := range uint64(max(1, count/14)) {
					w := newWorld(t, seed)
					w.start()
					old := w.nodes[0].keys[0]
					w.begin(w.nodes[0], w.key(kind.algorithm), kind.emergency)
					n := w.until(stage)
					w.begin(n, old, kind.emergency)
					for range w.rng.IntN(1000) {
						w.step(true)
					}
					w.end()
				}
			})
		}
	}
}

// An emergency roll to a new key replaces a roll of each kind at each of its stages. No answer is bogus, and one key
// remains at the end.
func TestRoll_IsTakenOverAtEachStage(t *testing.T) {
	for _, algorithm := range []string{"A", "B"} {
		for stage := roll.Published; stage < roll.Done; stage++ {
			for seed := range uint64(max(1, *histories/50)) {
				w := newWorld(t, seed)
				w.start()
				w.begin(w.nodes[0], w.key(algorithm), false)
				w.begin(w.until(stage), w.key("A"), true)
				for range w.rng.IntN(1000) {
					w.step(true)
				}
				w.end()
			}
		}
	}
}

// until returns the first answering node that reaches a stage. It ends the disturbances if they prevent this.
func (w *world) until(stage roll.Stage) *node {
	w.t.Helper()
	for i := range 8000 {
		for _, n := range w.nodes {
			if n.up && !n.asks && n.progress != nil && n.progress.Stage == stage {
				return n
			}
		}
		if i == 2000 {
			w.mend()
		}
		w.step(i < 2000)
	}
	w.fail("no node comes to %s", stage)
	return nil
}

// end ends all disturbances, and waits until one key remains.
func (w *world) end() {
	w.t.Helper()
	w.mend()
	for i := 0; !w.done(); i++ {
		if i > 5000 {
			for _, n := range w.nodes {
				w.tell("%s: %+v waits for %+v, has %v", n.name, n.progress, n.wait, n.keys)
			}
			w.fail("the roll does not end")
		}
		w.step(false)
	}
}
