package roll_test

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// known returns the other nodes as one node knows them, without disturbances.
func (w *world) known(n *node) (peers []roll.Peer) {
	for _, p := range w.nodes {
		if p != n {
			peers = append(peers, roll.Peer{Name: p.name, Progress: p.progress})
		}
	}
	return peers
}

// Without faults, each stage of a roll of any kind begins at the predicted time: within the rounds of the nodes after
// the parent's change, and never earlier.
func TestSchedule_TellsWhenStagesCome(t *testing.T) {
	for seed := range uint64(40) {
		w := newWorld(t, seed)
		w.polls, w.lag = tick, 0
		w.step(false)
		n := w.nodes[0]
		algorithm := []string{"A", "B"}[seed%2]
		w.begin(n, w.key(algorithm), seed%4 > 1)
		peers := []roll.Peer{{Name: "n2"}, {Name: "n3"}}
		told := roll.Schedule(n.progress, peers, w.ttl, w.now.Add(n.ahead))
		if last := told[len(told)-1]; last.Stage != roll.Done || told[0].WaitsFor == "" {
			t.Fatalf("told %+v", told)
		}
		for i := 0; n.progress.Stage < roll.Done; i++ {
			if i > 5000 {
				w.fail("the roll does not end")
			}
			before := n.progress.Stage
			w.step(false)
			if n.progress.Stage == before {
				continue
			}
			at := told[0]
			// The slack covers the rounds of three nodes at each stage until this one, and two polls of the parent.
			slack := time.Duration(4*int(at.Stage))*tick + 4*time.Minute
			if late := n.progress.Since.Sub(at.NotBefore); at.Stage != n.progress.Stage || late < 0 || late > slack {
				w.fail("%s came %s after what was told: %+v", n.progress.Stage, late, told)
			}
			told = told[1:]
		}
	}
}

// A step that is reported as safe breaks no answer if it is done immediately. If the new DS record must not be
// published at the parent yet, the advice includes the time from which it can be.
func TestAdvise_ReplacingTheDSRecord(t *testing.T) {
	for seed := range uint64(40) {
		w := newWorld(t, seed)
		w.polls = 1000 * time.Hour // only the operator changes the parent
		w.step(false)
		n := w.nodes[0]
		w.begin(n, w.key([]string{"A", "B"}[seed%2]), seed%4 > 1)
		var until time.Time
		for i := 0; ; i++ {
			advice := roll.Advise(n.progress, w.known(n), w.ttl, w.now.Add(n.ahead))
			if advice[0].Act != roll.ReplaceDS || i > 5000 {
				w.fail("advice %+v", advice)
			}
			if advice[0].Safe {
				if now := w.now.Add(n.ahead); !until.IsZero() && now.Before(until) {
					w.fail("it is safe at %s, and was to be at %s", now, until)
				}
				break
			}
			if advice[0].Reason == "" {
				w.fail("nothing is said to break: %+v", advice)
			}
			until = advice[0].Until
			w.step(false)
		}
		if until.IsZero() {
			w.fail("no time was told")
		}
		w.parent[0], w.parent[1] = string(n.progress.Target), string(n.progress.Target)
		w.lagged = w.parent[0]
		for i := 0; !w.done(); i++ {
			if i > 5000 {
				w.fail("the roll does not end")
			}
			w.step(false)
		}
		if advice := roll.Advise(n.progress, w.known(n), w.ttl, w.now); advice != nil {
			w.fail("after the end: %+v", advice)
		}
	}
}

func TestAdvise_ByStage(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ttl := roll.TTLs{Margin: 5 * time.Minute, DNSKEY: time.Hour, Answers: 2 * time.Hour, DS: 24 * time.Hour}
	for name, c := range map[string]struct {
		stage           roll.Stage
		parent          time.Time
		down            bool
		replace         bool
		until, removeAt time.Duration // time after now; 0: not reported
	}{
		"published":                 {stage: roll.Published, until: 125 * time.Minute},
		"published, a node is down": {stage: roll.Published, down: true},
		"offered":                   {stage: roll.Offered, replace: true},
		"offered, the parent has it": {stage: roll.Offered, parent: now, replace: true, removeAt: 26*time.Hour +
			10*time.Minute},
		"offered, it has, a node is down":  {stage: roll.Offered, parent: now, down: true, replace: true},
		"alone":                            {stage: roll.Alone, parent: now, replace: true, removeAt: 125 * time.Minute},
		"alone, a node is down since then": {stage: roll.Alone, parent: now, down: true, replace: true},
	} {
		own := roll.Begin(roll.Roll{Target: []byte("new"), Started: now}, nil, nil, now)
		own.Stage, own.ParentSince = c.stage, c.parent
		other := *own
		peer := roll.Peer{Name: "n2", Progress: &other}
		if c.down {
			peer = roll.Peer{Name: "n2", Why: "it is down"}
		}
		got := roll.Advise(own, []roll.Peer{peer}, ttl, now)
		after := func(d time.Duration) time.Time {
			if d == 0 {
				return time.Time{}
			}
			return now.Add(d)
		}
		if got[0].Safe != c.replace || !got[0].Until.Equal(after(c.until)) || (got[0].Reason == "") != c.replace {
			t.Errorf("%s: %+v", name, got[0])
		}
		if got[1].Safe || got[1].Reason == "" || !got[1].Until.Equal(after(c.removeAt)) {
			t.Errorf("%s: %+v", name, got[1])
		}
		if got[2] != (roll.Advice{Act: roll.Cancel, Safe: true}) {
			t.Errorf("%s: %+v", name, got[2])
		}
	}
}
