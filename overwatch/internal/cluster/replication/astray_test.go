package replication_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// asked counts the requests with a proof that a host receives within a time.
func asked(w *network, host string, over time.Duration) (count int) {
	w.mu.Lock()
	w.tap = func(r *http.Request) {
		if r.URL.Host == host && r.Header.Get("Authorization") != "" {
			w.mu.Lock()
			defer w.mu.Unlock()
			count++
		}
	}
	w.mu.Unlock()
	time.Sleep(over)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tap = nil
	return count
}

// A node that is in the peers of another node by two names limits the requests for both names together.
func TestReplication_ANodeOfTwoNamesIsAskedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, nodes, _ := cluster(t)
		alike(t, nodes...)
		nodes[2].stop()
		w.set("c", nodes[1])
		time.Sleep(time.Minute)
		if count := asked(w, "c", time.Minute); count > 100 {
			t.Errorf("asked %d times within a minute", count)
		}
	})
}

// Nodes that replicate with each other keep each other's objects without confirmation, however long a third node was
// down.
func TestReplication_NodesThatTalkAllAlongDoNotJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &network{nodes: make(map[string]*node)}
		var nodes []*node
		for _, id := range []string{"a", "b", "c"} {
			o := store.Options{NodeID: id, Retention: simulatedRetention}
			nodes = append(nodes, startOn(t, w, t.TempDir(), w, o, settings(secret)))
		}
		alike(t, nodes...)
		nodes[2].stop()
		time.Sleep(2 * simulatedRetention)
		if nodes[0].store.Replicas().Joining || nodes[1].store.Replicas().Joining {
			t.Error("two nodes that hear one another count as away")
		}
	})
}

// If the address of a peer led to the node itself for some time, the peer is a normal peer again afterwards.
func TestReplication_APeerThatWasTheNodeItselfIsAPeerAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, nodes, dirs := cluster(t)
		a, b, c := nodes[0], nodes[1], nodes[2]
		alike(t, nodes...)
		c.stop()
		w.set("c", a)
		time.Sleep(time.Minute)
		c = start(t, w, "c", dirs["c"], settings(secret))
		c.put("app.example", "")
		time.Sleep(2 * time.Minute)
		alike(t, a, b, c)
		if peers := a.r.Status().Peers; len(peers) != 2 || peers[1].NodeID != "c" || !peers[1].Connected {
			t.Errorf("the peers are %+v", peers)
		}
	})
}

// The state of a peer that never answers is unknown. Other nodes therefore report their unconfirmed objects without it.
func TestReplication_APeerThatNeverAnswersKeepsAllJoining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &network{nodes: make(map[string]*node)}
		a := start(t, w, "a", t.TempDir(), settings(secret))
		start(t, w, "b", t.TempDir(), settings(secret))
		time.Sleep(time.Minute)
		lost := a.r.Lost()
		if len(lost) != 1 || lost[0].URL != "http://c" || !lost[0].Joining || len(a.r.Trouble()) != 0 {
			t.Errorf("joining: %t, lost %+v, %q", a.store.Replicas().Joining, lost, a.r.Trouble())
		}
	})
}

// A node that was alone sends its objects to new peers, whatever the age of the objects.
func TestReplication_ANodeThatWasAloneBringsWhatIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, long := t.TempDir(), time.Now().Add(-2*simulatedRetention)
		alone, err := store.Open(dir, store.Options{NodeID: "c", Now: func() time.Time { return long }})
		if err != nil {
			t.Fatal(err)
		}
		var b store.Batch
		b.PutObject(store.KindDomain, &model.Domain{Name: "old.example", Meta: model.Meta{UpdatedAt: long}})
		if err := errors.Join(alone.Write(&b), alone.Close()); err != nil {
			t.Fatal(err)
		}
		w := &network{nodes: make(map[string]*node)}
		two := settings(secret)
		two.Peers = []string{"http://a", "http://b"}
		var nodes []*node
		join := func(id, dir string, s replication.Settings) {
			nodes = append(nodes, startOn(t, w, dir, w, store.Options{NodeID: id, Retention: simulatedRetention}, s))
		}
		join("a", t.TempDir(), two)
		join("b", t.TempDir(), two)
		until(t, "two nodes to have joined", func() bool {
			return !nodes[0].store.Replicas().Joining && !nodes[1].store.Replicas().Joining
		})
		for _, n := range nodes {
			n.r.Reconfigure(settings(secret))
		}
		join("c", dir, settings(secret))
		alike(t, nodes...)
		for _, n := range nodes {
			if _, there := n.store.Object(domain("old.example")); !there {
				t.Errorf("%s lacks it", n.id)
			}
		}
	})
}
