package keysync

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/dnssec"
)

const day = 24 * time.Hour

// startTogether starts nodes at the same moment, none of which has keys.
func startTogether(n *network, names ...string) []*node { return startWith(n, nil, names...) }

// startWith is startTogether with more peers for each node.
func startWith(n *network, more []string, names ...string) []*node {
	nodes := make([]*node, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { nodes[i] = n.start(name, n.t.TempDir(), append(others(names, name), more...)...) })
	}
	all.Wait()
	return nodes
}

func others(names []string, but string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == but })
}

func stopAll(nodes ...*node) {
	for _, n := range nodes {
		n.stop()
	}
}

// told are the tags of the keys of which a node tells the parent.
func (n *node) told() (tags []uint16) {
	for _, k := range n.zones.Keys() {
		if k.Signing && !k.Provisional {
			tags = append(tags, k.Tag())
		}
	}
	return tags
}

// crew is the nodes that answer.
type crew struct{ list atomic.Pointer[[]*node] }

func crewOf(nodes ...*node) *crew {
	c := new(crew)
	c.set(nodes...)
	return c
}

func (c *crew) set(nodes ...*node) {
	nodes = slices.Clone(nodes)
	c.list.Store(&nodes)
}

func (c *crew) nodes() []*node { return *c.list.Load() }

// watched begins to validate what nodes answer, with the DS records that one of them tells.
func watched(t *testing.T, ds []uint16, nodes func() []*node) (end func()) {
	t.Helper()
	v := &validator{t: t, nodes: nodes, ds: ds}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.watch(ctx, 700*time.Millisecond)
	}()
	return func() {
		cancel()
		<-done
		if v.count == 0 {
			t.Error("nothing was validated")
		}
	}
}

// Row 32 of the fault matrix, and its like for three.
func TestRow32_NodesThatStartEmptyAtOnceEndWithOneKey(t *testing.T) {
	for _, names := range [][]string{{"a", "b"}, {"a", "b", "c"}} {
		test(t, func(t *testing.T, n *network) {
			began := time.Now()
			nodes := startTogether(n, names...)
			if took := time.Since(began); took > bootTime {
				t.Errorf("they served after %s", took)
			}
			var ds []uint16 // the parent takes the first that any node tells
			for len(ds) == 0 {
				for _, n := range nodes {
					if ds = n.told(); len(ds) > 0 {
						break
					}
				}
				time.Sleep(time.Millisecond)
			}
			end := watched(t, ds, crewOf(nodes...).nodes)
			time.Sleep(time.Minute)
			alike(t, 1, nodes...)
			time.Sleep(2 * day)
			alike(t, 1, nodes...)
			end()
			stopAll(nodes...)
		})
	}
}

// The zones that have keys are answered at once, also while the peer is away that might have the key of a new one.
func TestBootstrap_ANewZoneDelaysNoOther(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		n.isolate("b", true)
		a := n.start("a", t.TempDir(), "b")
		a.zones.Expect([]string{"new.example."})
		began := time.Now()
		a.Bootstrap(t.Context())
		if took := time.Since(began); took > 0 {
			t.Errorf("the start took %s, though %s has a key", took, apex)
		}
		a.stop()
	})
}

func TestSync_ANodeThatStartsLaterTakesTheKeyBeforeItAnswers(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		a := n.start("a", t.TempDir(), "b", "c")
		running := crewOf(a)
		time.Sleep(time.Minute)
		end := watched(t, a.told(), running.nodes)
		time.Sleep(3 * time.Hour)
		began := time.Now()
		b := n.start("b", t.TempDir(), "a", "c")
		if !slices.Equal(b.told(), a.told()) || time.Since(began) > bootTime {
			t.Errorf("it begins with %v after %s", b.tags(), time.Since(began))
		}
		running.set(a, b)
		time.Sleep(day)
		alike(t, 1, a, b)
		end()
		stopAll(a, b)
	})
}

func TestSync_NodesThatStartedApartSignWithBothKeysOnceTheyMeet(t *testing.T) {
	for _, parent := range []int{0, 1} {
		test(t, func(t *testing.T, n *network) {
			n.isolate("a", true)
			nodes := startTogether(n, "a", "b")
			time.Sleep(day)
			ds := nodes[parent].told()
			n.isolate("a", false)
			time.Sleep(2 * time.Hour) // a poll interval, and its jitter
			end := watched(t, ds, crewOf(nodes...).nodes)
			alike(t, 2, nodes...)
			time.Sleep(day)
			alike(t, 2, nodes...)
			end()
			stopAll(nodes...)
		})
	}
}

func TestSync_AWipedNodeTakesTheKeysBack(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b", "c")
		time.Sleep(2 * time.Hour)
		want := nodes[0].told()
		running := crewOf(nodes...)
		end := watched(t, want, running.nodes)
		running.set(nodes[:2]...)
		nodes[2].stop()
		time.Sleep(time.Minute)
		nodes[2] = n.start("c", t.TempDir(), "a", "b")
		running.set(nodes...)
		alike(t, 1, nodes...)
		time.Sleep(day)
		alike(t, 1, nodes...)
		if !slices.Equal(nodes[2].told(), want) {
			t.Errorf("it signs with %v, want %v", nodes[2].told(), want)
		}
		end()
		stopAll(nodes...)
	})
}

// addKey makes a second key in the directory of a node and restarts it, as an operator does for a rollover.
func (n *node) addKey(t *testing.T) *node {
	t.Helper()
	n.stop()
	k, err := dnssec.Generate(apex, n.name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ring, _, err := dnssec.OpenKeyring(n.dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Add(k, time.Now(), false); err != nil {
		t.Fatal(err)
	}
	return n.again(t)
}

// again starts a node that was stopped.
func (n *node) again(t *testing.T) *node {
	t.Helper()
	n.stop()
	var peers []string
	for _, peer := range n.current().Peers {
		peers = append(peers, strings.TrimPrefix(peer, "http://"))
	}
	return n.net.start(n.name, n.dir, peers...)
}

func TestSync_ANodeCutOffForADayCatchesUp(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b", "c")
		time.Sleep(2 * time.Hour)
		running := crewOf(nodes...)
		end := watched(t, nodes[0].told(), running.nodes)
		n.isolate("c", true)
		running.set(nodes[1], nodes[2])
		nodes[0] = nodes[0].addKey(t)
		running.set(nodes...)
		time.Sleep(day)
		if st := nodes[2].Status(); st.LastSyncError == nil || !strings.Contains(*st.LastSyncError, "no complete answer within 30s") || st.Peers[0].OK || time.Since(*st.LastSync) < 20*time.Hour {
			t.Errorf("its status is %+v", st)
		}
		alike(t, 2, nodes[:2]...)
		alike(t, 1, nodes[2])
		n.isolate("c", false)
		time.Sleep(time.Hour + 10*time.Minute)
		alike(t, 2, nodes...)
		if st := nodes[2].Status(); st.LastSyncError != nil || !st.Peers[0].OK {
			t.Errorf("its status is %+v", st)
		}
		end()
		stopAll(nodes...)
	})
}

func TestSync_ANodeRestoredFromAnOldBackupCatchesUp(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b", "c")
		time.Sleep(2 * time.Hour)
		backup := backUp(t, nodes[2].dir)
		running := crewOf(nodes...)
		end := watched(t, nodes[0].told(), running.nodes)
		running.set(nodes[1:]...)
		nodes[0] = nodes[0].addKey(t)
		running.set(nodes...)
		time.Sleep(2 * time.Hour)
		alike(t, 2, nodes...)
		running.set(nodes[:2]...)
		nodes[2].stop()
		nodes[2] = n.start("c", backup, "a", "b")
		running.set(nodes...)
		time.Sleep(time.Minute)
		alike(t, 2, nodes...)
		end()
		stopAll(nodes...)
	})
}

// A whole change of key: a second one, its DS at the parent, the first one taken away node by node. A backup from before brings the
// first one back to nobody, and loses it itself.
func TestSync_AChangeOfKeyIsNeverBogusAndAnOldBackupDoesNotUndoIt(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b", "c")
		time.Sleep(2 * time.Hour)
		running := crewOf(nodes...)
		first := nodes[0].told()
		v := &validator{t: t, nodes: running.nodes, ds: first}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go v.watch(ctx, 700*time.Millisecond)
		running.set(nodes[1:]...)
		nodes[0] = nodes[0].addKey(t)
		running.set(nodes...)
		time.Sleep(3 * time.Hour) // all have it, and the TTL is over
		alike(t, 2, nodes...)
		backup := backUp(t, nodes[2].dir)
		second := without(nodes[0].told(), first)
		v.mu.Lock()
		v.ds = second // the DS record is replaced
		v.mu.Unlock()
		time.Sleep(day)
		for i := range nodes {
			running.set(slices.Delete(slices.Clone(nodes), i, i+1)...)
			nodes[i].stop()
			removeKey(t, nodes[i].dir, first[0])
			nodes[i] = nodes[i].again(t)
			running.set(nodes...)
			time.Sleep(2 * time.Hour)
		}
		alike(t, 1, nodes...)
		running.set(nodes[:2]...)
		nodes[2].stop()
		nodes[2] = n.start("c", backup, "a", "b", "c") // what it says itself keeps it from nothing
		running.set(nodes...)
		time.Sleep(3 * time.Hour)
		alike(t, 1, nodes...)
		if !slices.Equal(nodes[2].told(), second) {
			t.Errorf("it signs with %v, want %v", nodes[2].told(), second)
		}
		cancel()
		stopAll(nodes...)
	})
}

func without(all, but []uint16) []uint16 {
	return slices.DeleteFunc(slices.Clone(all), func(tag uint16) bool { return slices.Contains(but, tag) })
}

func removeKey(t *testing.T, dir string, tag uint16) {
	t.Helper()
	ring, _, err := dnssec.OpenKeyring(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range ring.Keys(apex) {
		if k.Tag() == tag {
			for _, ending := range []string{".key", ".private"} {
				if err := os.Remove(filepath.Join(dir, k.FileName()+ending)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func backUp(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error { // CopyFS makes files that others can read
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// The specification's way to a new key: the files are deleted on every node, and all are started again.
func TestSync_DeletedFilesOnAllNodesAndARestartMakeOneNewKey(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		nodes := startTogether(n, "a", "b", "c")
		time.Sleep(time.Hour)
		before := nodes[0].told()
		stopAll(nodes...)
		var all sync.WaitGroup
		for i := range nodes {
			removeKey(t, nodes[i].dir, before[0])
			all.Go(func() { nodes[i] = nodes[i].again(t) })
		}
		all.Wait()
		time.Sleep(time.Minute)
		alike(t, 1, nodes...)
		if after := nodes[0].told(); len(after) != 1 || slices.Equal(after, before) {
			t.Errorf("keys %v, before %v", after, before)
		}
		if !strings.Contains(nodes[0].log.String(), "the zone's keys are gone") {
			t.Errorf("the log does not say so:\n%s", nodes[0].log)
		}
		stopAll(nodes...)
	})
}

// Row 16: a damaged file stops the start by name, unless a peer has a copy. That the zone has another key, too, changes nothing.
func TestRow16_ADamagedKeyIsMendedFromAPeerOrStopsTheStart(t *testing.T) {
	for keys := 1; keys <= 2; keys++ {
		test(t, func(t *testing.T, n *network) {
			nodes := startTogether(n, "a", "b")
			time.Sleep(time.Minute)
			if keys == 2 {
				nodes[0] = nodes[0].addKey(t)
				time.Sleep(2 * time.Hour) // a poll interval, and its jitter
			}
			alike(t, keys, nodes...)
			nodes[0].stop()
			files, err := filepath.Glob(filepath.Join(nodes[0].dir, "K*.private"))
			if err != nil || len(files) != keys {
				t.Fatal(files, err)
			}
			if err := os.Truncate(files[0], 10); err != nil {
				t.Fatal(err)
			}
			n.isolate("b", true)
			if _, err := n.open("a", nodes[0].dir, "b"); err == nil || !strings.Contains(err.Error(), files[0]) {
				t.Errorf("error %v, want one that names %s", err, files[0])
			}
			n.isolate("b", false)
			nodes[0] = n.start("a", nodes[0].dir, "b")
			alike(t, keys, nodes...)
			stopAll(nodes...)
		})
	}
}

func TestSync_PeersFollowTheConfigurationWhileRunning(t *testing.T) {
	test(t, func(t *testing.T, n *network) {
		a := n.start("a", t.TempDir())
		b := n.start("b", t.TempDir())
		time.Sleep(time.Minute)
		if st := a.Status(); st.Enabled || st.NextSync != nil || st.LastSync != nil || slices.Equal(a.tags(), b.tags()) {
			t.Fatalf("without peers: %+v", st)
		}
		for i, node := range []*node{a, b} {
			settings := node.current()
			settings.Peers = []string{"http://" + []string{"b", "a"}[i] + "/"}
			node.Reconfigure(settings)
		}
		synctest.Wait()
		alike(t, 2, a, b)
		st := a.Status()
		if !st.Enabled || st.PeerCount != 1 || st.LastSync == nil || st.NextSync.Sub(*st.LastSync) < 50*time.Minute || st.Peers[0].NodeID != "b" || !st.Peers[0].OK {
			t.Errorf("%+v", st)
		}
		settings := a.current()
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
		if err != nil || done.Synced || len(done.Peers) != 1 || done.Peers[0].OK || !strings.Contains(*done.Peers[0].Error, "connection refused") {
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
		settled := slices.IndexFunc(asked, func(at time.Duration) bool { return at > 30*time.Second })
		if later := asked[settled:]; len(later) < 10 || len(later) > 16 || later[1]-later[0] > 15*time.Second {
			t.Errorf("it asked after %v", asked)
		}
		a.stop()
	})
}

// Virtual clocks have no jitter of their own, so all of it is pause's.
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
