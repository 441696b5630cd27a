package keysync // inside: it uses pause

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSync_PeersFollowTheConfigurationWhileRunning(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		a := n.start("a", t.TempDir())
		b := n.start("b", t.TempDir())
		time.Sleep(time.Minute)
		if st := a.Status(); st.Enabled || st.NextSync != nil || st.LastSync != nil || slices.Equal(a.tags(), b.tags()) {
			t.Fatalf("without peers: %+v", st)
		}
		for i, node := range []*node{a, b} {
			settings := node.settings.Get()
			settings.Peers = []string{"http://" + []string{"b", "a"}[i] + "/"}
			node.Reconfigure(settings)
		}
		synctest.Wait()
		alike(t, 2, a, b)
		st := a.Status()
		if !st.Enabled || st.PeerCount != 1 || st.LastSync == nil || st.NextSync.Sub(*st.LastSync) < 50*time.Minute ||
			st.Peers[0].NodeID != "b" || !st.Peers[0].OK {
			t.Errorf("%+v", st)
		}
		settings := a.settings.Get()
		settings.Peers = nil
		a.Reconfigure(settings)
		synctest.Wait()
		if st := a.Status(); st.Enabled || st.NextSync != nil || st.LastSyncError != nil {
			t.Errorf("%+v", st)
		}
		alike(t, 2, a, b)
		stopAll(a, b)
	})
}

func TestSync_APeerThatIsTheNodeItselfIsNoFault(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		a := n.start("a", t.TempDir(), "a", "b")
		b := n.start("b", t.TempDir(), "a", "b")
		time.Sleep(time.Minute)
		alike(t, 1, a, b)
		if st := a.Status(); st.LastSyncError != nil || st.Peers[0].NodeID != "a" {
			t.Errorf("%+v", st)
		}
		stopAll(a, b)
	})
}

func TestSync_OnOrderAsksAtOnceAndTellsOfEachPeer(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b")
		time.Sleep(time.Minute)
		nodes[1].stop()
		done, err := nodes[0].Sync.Sync(t.Context())
		if err != nil || done.Synced || len(done.Peers) != 1 || done.Peers[0].OK ||
			!strings.Contains(*done.Peers[0].Error, "nothing listens there") {
			t.Errorf("%+v, %v", done, err)
		}
		nodes[1] = nodes[1].addKey(t)
		done, err = nodes[0].Sync.Sync(t.Context())
		if err != nil || !done.Synced || done.Peers[0].Imported != 1 || done.Peers[0].Error != nil {
			t.Errorf("%+v, %v", done, err)
		}
		alike(t, 2, nodes...)
		n.isolate("b", true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := nodes[0].Sync.Sync(ctx); err == nil {
			t.Error("it waited for a peer longer than it was told to")
		}
		stopAll(nodes...)
	})
}

func TestSync_RetriesSoonAndThenLessOften(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		a := n.start("a", t.TempDir(), "b")
		var asked []time.Duration
		began := time.Now()
		last := time.Time{}
		for time.Since(began) < 5*time.Hour {
			if at := a.Status().Peers[0].LastAttempt; at != nil && !at.Equal(last) {
				last = *at
				asked = append(asked, time.Since(began))
			}
			time.Sleep(time.Second)
		}
		settled := slices.IndexFunc(asked, func(at time.Duration) bool { return at >= 30*time.Second })
		if later := asked[settled:]; len(later) < 10 || len(later) > 16 || later[1]-later[0] > 15*time.Second {
			t.Errorf("it asked after %v", asked)
		}
		a.stop()
	})
}

// Virtual clocks have no jitter, so all of the jitter comes from pause.
func TestPause_IsTheIntervalWithJitterAndShorterAfterFailures(t *testing.T) {
	seen := make(map[time.Duration]bool)
	for range 50 {
		d := pause(time.Hour, 0)
		if d < 54*time.Minute || d > 66*time.Minute {
			t.Fatal(d)
		}
		seen[d] = true
		if d := pause(time.Hour, 1000); d < 54*time.Minute || d > 66*time.Minute {
			t.Fatal(d)
		}
		if d := pause(time.Second, 1); d > 2*time.Second {
			t.Fatal(d)
		}
	}
	if len(slices.Collect(maps.Keys(seen))) < 10 {
		t.Error("nodes ask in step")
	}
}
