package replication_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/replica"
)

// newer returns the objects of a node of a later version, with a kind and a field that this version does not know.
func newer() replica.Offer {
	version := replica.Version{Time: time.Now().UnixMilli(), Node: "newer"}
	return replica.Offer{Node: "newer", Objects: []replica.Object{
		{Key: replica.Key{Kind: "tunnel", Name: "t1"}, Version: version, Value: json.RawMessage(`{"to":[1,2.50]}`)},
		{Key: domain("app.example"), Version: version, Value: json.RawMessage(`{"name":"app.example","colour":"red"}`)},
	}}
}

// In a ring in which each node queries one node, each node receives all objects. This includes objects of a later
// version, octet for octet, through a node that does not know their kind and was restarted in the meantime.
func TestReplication_ARingPassesOnWhatItDoesNotKnow(t *testing.T) {
	w, dirs := &network{nodes: make(map[string]*node)}, map[string]string{}
	next := map[string]string{"a": "b", "b": "c", "c": "a"}
	run := func(id string) *node {
		s := settings(secret)
		s.Peers = []string{"http://" + next[id]}
		if dirs[id] == "" {
			dirs[id] = t.TempDir()
		}
		return start(t, w, id, dirs[id], s)
	}
	a, c := run("a"), run("c")
	if _, err := a.store.Merge(newer(), nil); err != nil {
		t.Fatal(err)
	}
	until(t, "a node to take it", func() bool { return c.store.Replicas().Objects == 2 })
	a.stop()
	c.stop()
	c = run("c")
	b := run("b")
	until(t, "the next node to take it", func() bool { return b.store.Replicas().Objects == 2 })
	for _, want := range newer().Objects {
		if got, _ := b.store.Object(want.Key); string(got.Value) != string(want.Value) || got.Version.Node != "newer" {
			t.Errorf("%s came as %s", want.Value, got.Value)
		}
	}
	b.remove("app.example") // an operator can also remove it on the earlier version
	a = run("a")
	until(t, "all to hold the same", func() bool {
		digest := a.store.Replicas().Digest
		return digest == b.store.Replicas().Digest && digest == c.store.Replicas().Digest &&
			a.store.Replicas().Tombstones == 1
	})
}

// Objects that are larger than a page, and deletions that need several pages, reach a node without objects.
func TestReplication_WhatIsHugeArrives(t *testing.T) {
	w, nodes, _ := clusterOn(t, &network{nodes: make(map[string]*node), page: 64 << 10})
	alike(t, nodes...)
	nodes[2].stop()
	const count = 1_000
	at := replica.Version{Time: time.Now().UnixMilli(), Node: "z"}
	offer := replica.Offer{Node: "z", Objects: []replica.Object{{Key: replica.Key{Kind: "tunnel", Name: "wide"},
		Version: at,
		Value:   json.RawMessage(`"` + strings.Repeat("x", 256<<10) + `"`)}}}
	for i := range count {
		offer.Objects = append(offer.Objects, replica.Object{Key: domain("d" + strconv.Itoa(i) + ".example"), Version: at,
			Deleted: true})
	}
	if _, err := nodes[0].store.Merge(offer, nil); err != nil {
		t.Fatal(err)
	}
	fresh := start(t, w, "c", t.TempDir(), settings(secret))
	alike(t, nodes[0], nodes[1], fresh)
	if got := fresh.store.Replicas(); got.Objects != 1 || got.Tombstones != count {
		t.Errorf("it has %d objects and %d deletions", got.Objects, got.Tombstones)
	}
}
