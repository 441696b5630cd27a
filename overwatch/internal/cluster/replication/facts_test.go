package replication_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/shared/identity"
)

// keyOf returns the key id of a node's certificate in these tests.
func keyOf(id string, version byte) (key identity.KeyID) {
	copy(key[:], id)
	key[31] = version
	return key
}

// A node introduces the certificate in the last answer of a peer that has proved the secret. After the peer was
// reinstalled, the node introduces only the new certificate. It does not introduce a node with another secret.
func TestIntroduces_OnlyTheCertificateOfAProvedPeer(t *testing.T) {
	version := byte(1)
	w := &network{nodes: make(map[string]*node), describe: func(id string, o *replication.Options) {
		o.Certificate = keyOf(id, version)
		o.Serving = func() []string { return []string{"app.example", "from-" + id + ".example"} }
	}}
	w, nodes, _ := clusterOn(t, w)
	a, b := nodes[0], nodes[1]
	alike(t, nodes...)
	until(t, "the peers to introduce b", func() bool {
		return a.r.Introduces("b", keyOf("b", 1)) && nodes[2].r.Introduces("b", keyOf("b", 1))
	})
	if a.r.Introduces("b", keyOf("c", 1)) || a.r.Introduces("a", keyOf("a", 1)) || a.r.Introduces("x", keyOf("b", 1)) ||
		a.r.Introduces("x", identity.KeyID{}) {
		t.Error("a certificate of another node is introduced")
	}
	b.stop()
	until(t, "the node that is down to be introduced no longer", func() bool {
		return !a.r.Introduces("b", keyOf("b", 1))
	})
	version = 2
	b = start(t, w, "b", t.TempDir(), settings("another secret than that of all others"))
	until(t, "the stranger to be refused", func() bool {
		peers := b.r.Status().Peers
		return len(peers) > 0 && peers[0].Error != nil
	})
	if a.r.Introduces("b", keyOf("b", 2)) {
		t.Error("a node without the secret is introduced")
	}
	b.stop()
	b = start(t, w, "b", t.TempDir(), settings(secret))
	until(t, "the new certificate to be introduced", func() bool { return a.r.Introduces("b", keyOf("b", 2)) })
	if a.r.Introduces("b", keyOf("b", 1)) {
		t.Error("the earlier certificate is introduced")
	}
	until(t, "the node to know the names that the others serve", func() bool {
		names, pending := b.r.PeersServe()
		return fmt.Sprint(names) == "[app.example from-a.example from-c.example]" && !pending
	})
}

// Only the first answer to a process lists the names that the node serves.
func TestAnswer_ListsServedNamesOnce(t *testing.T) {
	var listed atomic.Int64
	w := &network{nodes: make(map[string]*node), describe: func(_ string, o *replication.Options) {
		o.Serving = func() []string { listed.Add(1); return []string{"app.example"} }
	}}
	_, nodes, _ := clusterOn(t, w)
	alike(t, nodes...)
	before := listed.Load()
	for i := range 5 {
		nodes[0].put(fmt.Sprint("d", i, ".example"), "")
		alike(t, nodes...)
	}
	// Each change causes one answer to each of two peers. A node that reconnects in the meantime may list the names once
	// more.
	if after := listed.Load(); before == 0 || after-before >= 10 {
		t.Errorf("the names were listed %d times at the start, %d times in all", before, after)
	}
}
