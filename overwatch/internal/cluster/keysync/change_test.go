package keysync // inside: it looks at current

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
)

// addKey creates a second key in the directory of a node and restarts the node, as an operator does for a rollover.
func (n *node) addKey(t *testing.T) *node {
	t.Helper()
	n.stop()
	k, err := dnssec.Generate(dnssec.ECDSAP256SHA256, apex, n.name, time.Now())
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
	for _, peer := range n.settings.Get().Peers {
		peers = append(peers, strings.TrimPrefix(peer, "http://"))
	}
	return n.net.start(n.name, n.dir, peers...)
}

// Fault 8.
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
		if st := nodes[2].Status(); st.LastSyncError == nil ||
			!strings.Contains(*st.LastSyncError, "no complete answer within 30s") || st.Peers[0].OK ||
			time.Since(*st.LastSync) < 20*time.Hour {
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

// The test makes a complete key change: it adds a second key, publishes its DS record at the parent, and removes the
// first key from each node. A restored older backup does not restore the first key on other nodes, and the restored
// node also removes it.
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
		time.Sleep(3 * time.Hour) // all nodes have the key, and the TTL has passed
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
		nodes[2] = n.start("c", backup, "a", "b", "c") // its own records do not prevent the removal
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
	// CopyFS creates files that other users can read.
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
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

// This is the documented way to a new key: the operator deletes the files on every node and restarts all nodes.
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
		if !slices.ContainsFunc(nodes, func(n *node) bool { // a node may have imported the key of another node
			return strings.Contains(n.log.String(), "the zone's keys are gone")
		}) {
			t.Errorf("no log says so, as here:\n%s", nodes[0].log)
		}
		stopAll(nodes...)
	})
}

// A damaged file fails the start with an error that names it, unless a peer has a copy. Another key of the zone does
// not change this.
//
// Fault 16.
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
