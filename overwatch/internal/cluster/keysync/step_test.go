package keysync // inside: it uses stepPause

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// The nodes take a step of a roll at the predicted time, and never predict a time in the past.
func TestRun_StepsAtTheNamedTime(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		n.rolls = true
		a, b := n.start("a", t.TempDir(), "b"), n.start("b", t.TempDir(), "a")
		defer a.stop()
		defer b.stop()
		time.Sleep(time.Minute)
		alike(t, 1, a, b)
		if _, err := a.BeginRoll(t.Context(), apex, dnssec.RollOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Sync.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		nodes, named := []*node{a, b}, map[*node]time.Time{}
		rolling := func(o *node) bool { return o.Rolls()[0].Stage == roll.Published }
		for began := time.Now(); slices.ContainsFunc(nodes, rolling); time.Sleep(time.Second) {
			synctest.Wait()
			for _, o := range nodes {
				switch until := o.Rolls()[0].Wait.Until; {
				case !rolling(o) && !named[o].IsZero() && time.Since(named[o]) > 2*time.Second:
					t.Fatalf("%s named %s for its step, and took it at %s", o.name, named[o], time.Now())
				case !rolling(o):
					named[o] = time.Time{}
				case !until.IsZero() && time.Since(until) > time.Second:
					t.Fatalf("%s: the step of %s is overdue at %s", o.name, until, time.Now())
				case !until.IsZero():
					named[o] = until
				}
			}
			if time.Since(began) > 4*shortTTL {
				t.Fatalf("a: %+v, b: %+v", a.Rolls()[0].Wait, b.Rolls()[0].Wait)
			}
		}
	})
}

func TestStepPause(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	state := func(stage roll.Stage, since time.Duration, w roll.Wait) dnssec.RollState {
		return dnssec.RollState{Progress: roll.Progress{Stage: stage, Since: now.Add(-since)}, Wait: w}
	}
	in := func(d time.Duration) roll.Wait { return roll.Wait{Until: now.Add(d)} }
	peer, parent := roll.Wait{For: "b", Peer: true}, roll.Wait{For: "the parent"}
	for name, c := range map[string]struct {
		rolls []dnssec.RollState
		want  time.Duration
	}{
		"the parent":      {[]dnssec.RollState{state(roll.Offered, 0, parent)}, rollPause},
		"a time":          {[]dnssec.RollState{state(roll.Published, 0, in(3*time.Second))}, 3 * time.Second},
		"a distant time":  {[]dnssec.RollState{state(roll.Published, 0, in(time.Hour))}, rollPause},
		"a failed step":   {[]dnssec.RollState{state(roll.Published, 0, in(0))}, duePause},
		"a peer":          {[]dnssec.RollState{state(roll.Published, 0, peer)}, peerPause},
		"a peer for long": {[]dnssec.RollState{state(roll.Published, time.Hour, peer)}, rollPause},
		"an ended roll":   {[]dnssec.RollState{state(roll.Done, 0, in(time.Second))}, rollPause},
		"the earliest of two": {[]dnssec.RollState{state(roll.Published, 0, peer),
			state(roll.Published, 0, in(time.Second))}, time.Second},
	} {
		if got := stepPause(c.rolls, now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
