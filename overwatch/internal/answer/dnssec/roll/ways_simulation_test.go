package roll_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// turn starts a transition of the zone to signed or unsigned on a node.
func (w *world) turn(n *node, way roll.Goal) {
	now := w.now.Add(n.ahead)
	r := roll.Roll{Goal: way, Started: now, By: n.name, DS: n.ttl.DS}
	if n.way != nil && !now.After(n.way.Started) {
		r.Started = n.way.Started.Add(1)
	}
	begun := roll.Begin(r, nil, nil, now)
	begun.Inherit(n.way, now)
	begun.Inherit(n.progress, now)
	n.note(begun, nil, now)
	n.way = begun
	w.tell("%s goes the way to be %s", n.name, way)
}

// askWay takes the permitted step of a node's transition.
func (w *world) askWay(n *node, peers []roll.Peer) {
	if n.way == nil {
		return
	}
	now := w.now.Add(n.ahead)
	wrong := w.wrongWay(n)
	n.way.RecordParent(wrong == "", now, now)
	n.note(n.way, peers, now)
	next, wait := roll.Next(n.way, peers, wrong, n.remembered(now), now)
	if n.wayWait = wait; next != nil {
		n.way = next
		w.tell("%s is at %s of the way to be %s", n.name, next.Name(next.Stage), next.Goal)
	}
}

func (w *world) wrongWay(n *node) string {
	if w.now.Before(w.silent) {
		return "no server of the parent answers"
	}
	want := ""
	if n.way.Goal == roll.ToSigned {
		want = joined(n.offered())
	}
	for i, ds := range w.parent {
		if ds != want {
			return fmt.Sprintf("server %d of the parent has %q", i, ds)
		}
	}
	return ""
}

// arrived reports whether all nodes have completed the latest transition, and the latest roll unless it is paused.
func (w *world) arrived() bool {
	first := w.nodes[0].way
	for _, n := range w.nodes {
		if n.way == nil || n.way.Stage != roll.Done || n.way.Goal != first.Goal || n.way.Unsigned() != (w.parent[0] == "") {
			return false
		}
		if n.progress != nil && n.progress.Stage != roll.Done && !n.way.Unsigned() {
			return false
		}
	}
	return true
}

func (w *world) arrive() {
	w.t.Helper()
	w.mend()
	for i := 0; !w.arrived(); i++ {
		if i > 8000 {
			for _, n := range w.nodes {
				w.tell("%s: way %+v waits for %+v, roll %+v waits for %+v", n.name, n.way, n.wayWait, n.progress, n.wait)
			}
			w.fail("the way does not end")
		}
		w.step(false)
	}
}

// A validator that caches each record for its whole TTL, including the keys that it has validated with a DS record,
// considers every answer of every node secure, or insecure without a DS record. The zone becomes unsigned and returns
// to signing, any node reverses the transition, and keys change. Nodes are killed, disconnected and restored, and the
// parent's servers differ, stop answering, or return to earlier records.
func TestWay_NoAnswerIsEverBogus(t *testing.T) {
	count := *histories
	if testing.Short() { // with the race detector; a run without it plays all histories
		count /= 5
	}
	ends, crossed, rolled := map[roll.Goal]int{}, 0, 0
	for seed := range uint64(count) {
		w := newWorld(t, seed)
		w.start()
		for range 1 + w.rng.IntN(5) {
			n := w.nodes[w.rng.IntN(len(w.nodes))]
			if !n.up || n.asks {
				continue
			}
			switch way := n.way; {
			case w.rng.IntN(4) == 0 && !n.way.Unsigned(): // with any transition
				w.begin(n, w.key([]string{"A", "B"}[w.rng.IntN(2)]), w.rng.IntN(4) == 0)
				rolled++
			case way == nil || way.Goal == roll.ToSigned:
				w.turn(n, roll.ToUnsigned)
			default:
				w.turn(n, roll.ToSigned)
			}
			if slices.ContainsFunc(w.nodes, func(o *node) bool { return o.way.UnderWay() && n.way != o.way }) {
				crossed++
			}
			for range w.rng.IntN([]int{20, 200, 2000}[w.rng.IntN(3)]) {
				w.step(true)
			}
		}
		w.mend()
		if w.nodes[0].way == nil {
			w.turn(w.nodes[0], roll.ToUnsigned)
		}
		w.arrive()
		ends[w.nodes[0].way.Goal]++
	}
	t.Logf("ends %v, %d met another way, %d keys", ends, crossed, rolled)
	if len(ends) < 2 || crossed == 0 || rolled == 0 {
		t.Error("the histories show too little")
	}
}

// A transition is cancelled when a node has reached each of its stages, and the zone returns to its original state.
func TestWay_IsTakenBackAtEachStage(t *testing.T) {
	count := *histories
	if testing.Short() { // with the race detector; a run without it plays all histories
		count /= 5
	}
	for _, c := range []struct {
		way   roll.Goal
		stage roll.Stage
	}{{roll.ToUnsigned, roll.Offered}, {roll.ToUnsigned, roll.Alone}, {roll.ToSigned, roll.Published},
		{roll.ToSigned, roll.Offered}} {
		t.Run(fmt.Sprintf("%s at %s", c.way, c.stage), func(t *testing.T) {
			for seed := range uint64(max(1, count/10)) {
				w := newWorld(t, seed)
				w.start()
				w.turn(w.nodes[0], roll.ToUnsigned)
				back := roll.ToSigned
				if c.way == roll.ToSigned {
					w.arrive()
					w.turn(w.nodes[1], roll.ToSigned)
					back = roll.ToUnsigned
				}
				heard := seed%2 == 0 // otherwise an old backup may replace the node's knowledge
				w.turn(w.untilWay(c.way, c.stage), back)
				if heard {
					w.mend()
					w.step(false)
				}
				for range w.rng.IntN(500) {
					w.step(true)
				}
				w.arrive()
				if heard && w.nodes[0].way.Goal != back {
					w.fail("it ends %s", w.nodes[0].way.Goal)
				}
			}
		})
	}
}

// untilWay returns the first answering node that reaches a stage of a transition. It ends the disturbances if they
// prevent this.
func (w *world) untilWay(way roll.Goal, stage roll.Stage) *node {
	w.t.Helper()
	for i := range 8000 {
		for _, n := range w.nodes {
			if n.up && !n.asks && n.way != nil && n.way.Goal == way && n.way.Stage == stage {
				return n
			}
		}
		if i == 2000 {
			w.mend()
		}
		w.step(i < 2000)
	}
	w.fail("no node comes to %s of the way to be %s", stage, way)
	return nil
}

// Without faults, each stage of a transition begins at the predicted time, and never earlier.
func TestWay_StagesComeWhenTheyWereTold(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(t, seed)
		w.polls, w.lag = tick, 0
		w.step(false)
		for _, way := range []roll.Goal{roll.ToUnsigned, roll.ToSigned} {
			n := w.nodes[0]
			w.turn(n, way)
			peers := []roll.Peer{{Name: "n2"}, {Name: "n3"}}
			told := roll.Schedule(n.way, peers, w.ttl, w.now.Add(n.ahead))
			for i := 0; n.way.Stage < roll.Done; i++ {
				if i > 5000 {
					w.fail("the way does not end")
				}
				before := n.way.Stage
				if w.step(false); n.way.Stage == before {
					continue
				}
				at, slack := told[0], time.Duration(4*int(told[0].Stage))*tick+4*time.Minute
				if late := n.way.Since.Sub(at.NotBefore); at.Stage != n.way.Stage || late < 0 || late > slack {
					w.fail("%s came %s after what was told: %+v", n.way.Stage, late, told)
				}
				told = told[1:]
			}
			if len(told) > 0 {
				w.fail("%+v did not come", told)
			}
			w.arrive()
		}
	}
}

// A zone completes its transition without a dead node only if an operator forces each stage. A returning node queries
// its peers before its first answer.
func TestWay_GoesOnWithoutADeadNode(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(t, seed)
		w.start()
		dead, others := w.nodes[2], w.nodes[:2]
		for _, way := range []roll.Goal{roll.ToUnsigned, roll.ToSigned} {
			dead.up = false
			w.turn(w.nodes[0], way)
			for stage := w.nodes[0].way.Stage; stage < roll.Done; stage = w.nodes[0].way.Stage {
				for range 600 {
					w.step(false)
				}
				for _, n := range others {
					if n.way.Goal != way || n.way.Stage != stage || n.wayWait.For != "n3: it does not answer" {
						w.fail("%s is at %s and waits for %q", n.name, n.way.Stage, n.wayWait.For)
					}
					n.way.Without = []string{"n3"}
				}
				for i := 0; slices.ContainsFunc(others, func(n *node) bool { return n.way.Stage == stage }); i++ {
					if i > 5000 {
						w.fail("they do not leave %s", stage)
					}
					w.step(false)
				}
			}
			dead.up, dead.asks = true, true
			w.arrive()
		}
	}
}
