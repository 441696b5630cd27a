package replication_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// caught makes a node wait as before its first DNS answer, and returns the duration.
func caught(ctx context.Context, n *node) time.Duration {
	began := time.Now()
	n.r.Catch(ctx)
	return time.Since(began)
}

func connected(n *node) (count int) {
	for _, p := range n.r.Status().Peers {
		if p.Connected {
			count++
		}
	}
	return count
}

// A starting node applies the decisions that were made while it was down before it answers. It does not wait for peers
// that are down, and waits at most half a second for a peer that does not answer.
func TestCatch_WithStateOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, nodes, dirs := cluster(t)
		a, b, c := nodes[0], nodes[1], nodes[2]
		alike(t, nodes...)
		c.stop()
		a.put("one.example", "")
		c = start(t, w, "c", dirs["c"], settings(secret))
		c.r.Catch(t.Context())
		c.mu.Lock()
		if c.followed[domain("one.example")] == 0 {
			t.Error("it answers without what its peers have")
		}
		c.mu.Unlock()
		c.stop()
		b.stop()
		c = start(t, w, "c", dirs["c"], settings(secret))
		if took := caught(t.Context(), c); took >= 400*time.Millisecond || connected(c) != 1 {
			t.Errorf("it waited %s for a peer that is down, %d are connected", took, connected(c))
		}
		c.stop()
		w.hang("a")
		c = start(t, w, "c", dirs["c"], settings(secret))
		if took := caught(t.Context(), c); took != 500*time.Millisecond {
			t.Errorf("it waited %s for a peer that says nothing", took)
		}
	})
}

// A node without stored objects waits two seconds for a peer that is down, and answers after it received the objects of
// its peers.
func TestCatch_WithoutState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &network{nodes: make(map[string]*node)}
		a := start(t, w, "a", t.TempDir(), settings(secret))
		if took := caught(t.Context(), a); took != 2*time.Second {
			t.Errorf("it waited %s for peers that are down", took)
		}
		time.Sleep(time.Hour) // the pause between retries is now long
		b := start(t, w, "b", t.TempDir(), settings(secret))
		c := start(t, w, "c", t.TempDir(), settings(secret))
		if took := caught(t.Context(), b) + caught(t.Context(), c); took >= time.Second {
			t.Errorf("they waited %s for peers that run", took)
		}
		synctest.Wait()
		for _, n := range []*node{a, b, c} {
			if connected(n) != 2 {
				t.Errorf("%s is connected to %d", n.id, connected(n))
			}
		}
	})
}

// Without replication, a node does not wait.
func TestCatch_WithoutReplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &network{nodes: make(map[string]*node)}
		a := start(t, w, "a", t.TempDir(), settings(""))
		if took := caught(t.Context(), a); took != 0 {
			t.Errorf("it waited %s", took)
		}
		if a.r.Status().Enabled || len(a.r.Trouble()) != 1 {
			t.Errorf("%+v, %v", a.r.Status(), a.r.Trouble())
		}
	})
}
