package cli // inside: it shares fake_test.go

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// --wait-for-peers waits for unreachable peers, even if the command line names one node, and has its own exit code.
func TestWaitForPeers_EndsWhenAllHaveTheChange(t *testing.T) {
	for _, tc := range []struct {
		name   string
		nodes  int
		behind int
		down   bool
		code   int
		words  string
	}{
		{"all have it", 3, 0, false, fleet.OK, "ns2, ns3: has the change"},
		{"peers are down", 3, 1, true, fleet.NotReplicated, "not confirmed after 50ms: ns2, ns3; replication continues"},
		{"one node, all have it", 1, 0, true, fleet.OK, "ns2, ns3: has the change"},
		{"one node, peers lack it", 1, 2, false, fleet.NotReplicated, "not confirmed after 50ms: ns2, ns3"},
	} {
		nodes := startNodes(t, 3)
		replicating(nodes, tc.behind, tc.down)
		line := "domains add shop.example.com --wait-for-peers=50ms"
		if tc.code == fleet.OK {
			line = strings.Replace(line, "50ms", "5s", 1)
		}
		r := ask(t, line, nodes[:tc.nodes]...)
		if r.code != tc.code || !strings.Contains(r.out+r.errors, tc.words) {
			t.Errorf("%s: %+v, want %d and %q", tc.name, r, tc.code, tc.words)
		}
		if sent := sentTo(nodes); !slices.Equal(sent, []int{1, 0, 0}) {
			t.Errorf("%s: sent to %v", tc.name, sent)
		}
	}
}

func TestWaitForPeers_ReturnsAsSoonAsTheyHaveIt(t *testing.T) {
	nodes := startNodes(t, 1)
	status := api.Replication{Enabled: true, NodeID: "ns1", Peers: []api.ReplicationPeer{{NodeID: "ns2", Behind: 1}}}
	nodes[0].set("GET /api/v1/replication", status)
	time.AfterFunc(30*time.Millisecond, func() { // in real time, as the requests
		nodes[0].set("GET /api/v1/replication", api.Replication{Enabled: true, NodeID: "ns1",
			Peers: []api.ReplicationPeer{{NodeID: "ns2"}}})
	})
	r := ask(t, "domains add shop.example.com --wait-for-peers", nodes...)
	if r.code != fleet.OK || !strings.Contains(r.out, "ns2: has the change") {
		t.Errorf("%+v", r)
	}
}

func TestWaitForPeers_OfADocument(t *testing.T) {
	inFolder(t)
	nodes := startNodes(t, 1)
	replicating(nodes, 0, false)
	nodes[0].answers["GET /api/v1/replication"] = api.Replication{Enabled: true, NodeID: "ns1",
		Peers: []api.ReplicationPeer{{NodeID: "ns2", Behind: 1}}}
	r := ask(t, "apply -f shop.yaml --wait-for-peers=50ms", nodes...)
	if r.code != fleet.NotReplicated || !strings.Contains(r.errors, "ns2; replication continues") {
		t.Errorf("%+v", r)
	}
}

// Nodes that do not replicate to each other apply a document separately, and share a peer. The peer is reported once.
func TestWaitForPeers_OfADocumentOnSeparateNodes(t *testing.T) {
	inFolder(t)
	nodes := startNodes(t, 2)
	for i, n := range nodes {
		n.answers["GET /api/v1/replication"] = api.Replication{Enabled: true, NodeID: []string{"ns1", "ns2"}[i],
			Peers: []api.ReplicationPeer{{NodeID: "ns9", Connected: true, Behind: i}}}
	}
	r := ask(t, "apply -f shop.yaml --wait-for-peers=50ms", nodes...)
	if r.code != fleet.NotReplicated || strings.Count(r.out, "ns9: ") != 1 ||
		!strings.Contains(r.out, "ns9: has not confirmed the change") ||
		!strings.Contains(r.out, documented(0)+", http://"+documented(1)+": the document is applied") {
		t.Errorf("%+v", r)
	}
}

// Every command that offers --wait-for-peers waits, with one node and with several nodes.
func TestWaitForPeers_OfEveryCommand(t *testing.T) {
	inFolder(t)
	for path, cmd := range leaves() {
		args, sent := sends[path]
		if !sent || cmd.Flags().Lookup("wait-for-peers") == nil {
			continue
		}
		for _, count := range []int{1, 3} {
			nodes := startNodes(t, 4) // the command does not name all of them
			replicating(nodes, 1, false)
			for _, n := range nodes {
				n.obeys = true
			}
			if path == "undo" && count > 1 {
				args = "" // an audit id requires one node
			}
			if r := ask(t, path+" "+args+" --wait-for-peers=20ms", nodes[:count]...); r.code != fleet.NotReplicated {
				t.Errorf("%s, %d nodes: %+v", path, count, r)
			}
		}
	}
}

// A change that is local to a node has no peers to wait for. A node that does not report the state of its peers is an
// error.
func TestWaitForPeers_IsOfferedWhereItHasAMeaning(t *testing.T) {
	n := startNode(t)
	r := ask(t, "config set logging level=debug --wait-for-peers", n)
	if r.code != fleet.NotAsked || !strings.Contains(r.errors, "nodes do not replicate logging") || len(n.changes()) > 0 {
		t.Errorf("logging: %+v, %q", r, n.changes())
	}
	for path, cmd := range leaves() {
		changes := cmd.Annotations[cmdline.Effect] != cmdline.Reads && !slices.Contains(localChanges(), path)
		if offered := cmd.Flags().Lookup("wait-for-peers") != nil; offered != changes {
			t.Errorf("%s has --wait-for-peers: %v, want %v", path, offered, changes)
		}
	}
	for _, path := range localChanges() {
		if leaves()[path] == nil {
			t.Errorf("localChanges has %s, which is no command", path)
		}
	}
	n.answers["GET /api/v1/replication"] = &api.Error{Status: 403, Message: "the token may not do this"}
	r = ask(t, "domains add shop.example.com --wait-for-peers", n)
	if r.code != fleet.NotReplicated || !strings.Contains(r.out, "their state is unknown: the token may not do this") {
		t.Errorf("a refusal: %+v", r)
	}
	delete(n.answers, "GET /api/v1/replication") // version 0.9.0
	if r := ask(t, "domains add shop.example.com --wait-for-peers", n); r.code != fleet.OK {
		t.Errorf("without replication: %+v", r)
	}
}
