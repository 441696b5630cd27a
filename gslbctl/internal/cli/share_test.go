package cli // inside: it uses exitDegraded and exitWell

import (
	"slices"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// replicating makes nodes report that they replicate changes. behind is the number of objects that each other node
// lacks, and down whether it is unreachable.
func replicating(nodes []*node, behind int, down bool) {
	ids := []string{"ns1", "ns2", "ns3", "ns4"}
	for i, n := range nodes {
		status := api.Replication{Enabled: true, NodeID: ids[i]}
		for k := range nodes {
			if k != i {
				status.Peers = append(status.Peers, api.ReplicationPeer{Peer: "http://" + ids[k], NodeID: ids[k],
					Connected: !down, Behind: behind})
			}
		}
		n.answers["GET /api/v1/replication"] = status
	}
}

func startNodes(t *testing.T, count int) (nodes []*node) {
	t.Helper()
	for range count {
		nodes = append(nodes, startNode(t))
	}
	return nodes
}

func threeNodes() []string {
	return []string{"--api", documented(0), "--api", documented(1), "--api", documented(2)}
}

const added = "POST /api/v1/domains"

// sentTo returns the number of changes that each node has received.
func sentTo(nodes []*node) (counts []int) {
	for _, n := range nodes {
		counts = append(counts, len(n.changes()))
	}
	return counts
}

func TestShare_OneNodeIsToldWhereNodesCarryItOn(t *testing.T) {
	add := append(threeNodes(), "domains", "add", "shop.example.com")
	for _, tc := range []struct {
		name   string
		behind int
		down   bool
		args   []string
		code   int
		words  []string
	}{
		{"on all", 0, false, add, fleet.OK, []string{"is answered", "ns2, ns3: has the change"}},
		{"some are down", 1, true, add, fleet.OK, []string{"is answered",
			"ns2, ns3: is down: it receives the change when it is back"}},
		{"some are down and all are demanded", 1, true, append(slices.Clone(add), "--all-nodes"), fleet.Degraded,
			[]string{"2 of 3 nodes have not confirmed the change"}},
		{"all are demanded and have it", 0, false, append(slices.Clone(add), "--all-nodes"), fleet.OK,
			[]string{"has the change"}},
	} {
		nodes := startNodes(t, 3)
		replicating(nodes, tc.behind, tc.down)
		r := call(t, cmdline.System{}, nodes, slices.Clone(tc.args)...)
		if r.code != tc.code || !slices.Equal(sentTo(nodes), []int{1, 0, 0}) {
			t.Errorf("%s: exit %d, sent to %v: %s%s", tc.name, r.code, sentTo(nodes), r.out, r.errors)
		}
		for _, word := range tc.words {
			if !strings.Contains(r.out+r.errors, word) {
				t.Errorf("%s: no %q in %s%s", tc.name, word, r.out, r.errors)
			}
		}
	}
}

func TestShare_EveryNodeIsToldWhereTheyDoNotCarryItOn(t *testing.T) {
	add := append(threeNodes(), "domains", "add", "shop.example.com")
	for name, change := range map[string]func([]*node){
		"off": func(nodes []*node) {
			for _, n := range nodes {
				n.answers["GET /api/v1/replication"] = api.Replication{NodeID: "ns1"}
			}
		},
		"one does not": func(nodes []*node) {
			nodes[1].answers["GET /api/v1/replication"] = api.Replication{NodeID: "ns2"}
		},
		"one is too old":  func(nodes []*node) { delete(nodes[2].answers, "GET /api/v1/replication") },
		"one is unnamed":  func(nodes []*node) { replicating(nodes[:2], 0, false) },
		"one is no peer":  func(nodes []*node) { rename(nodes[2], "ns9") },
		"has not met one": func(nodes []*node) { forget(nodes[0], "ns2") },
	} {
		nodes := startNodes(t, 3)
		replicating(nodes, 0, false)
		change(nodes)
		if r := call(t, cmdline.System{}, nodes, slices.Clone(add)...); !slices.Equal(sentTo(nodes), []int{1, 1, 1}) {
			t.Errorf("%s: exit %d, sent to %v: %s%s", name, r.code, sentTo(nodes), r.out, r.errors)
		}
	}
}

func rename(n *node, id string) {
	status := n.answers["GET /api/v1/replication"].(api.Replication)
	status.NodeID = id
	n.answers["GET /api/v1/replication"] = status
}

func forget(n *node, id string) {
	status := n.answers["GET /api/v1/replication"].(api.Replication)
	status.Peers = slices.Clone(status.Peers)
	for i := range status.Peers {
		if status.Peers[i].NodeID == id {
			status.Peers[i].NodeID = ""
		}
	}
	n.answers["GET /api/v1/replication"] = status
}

// The command sends a non-replicated change to each node, and treats a rejection as a failure.
func TestShare_WhatStaysOnANodeGoesToEach(t *testing.T) {
	nodes := startNodes(t, 3)
	replicating(nodes, 0, false)
	for _, args := range [][]string{{"brakes", "release", "app.example.com", "--force"}, {"config", "set", "logging",
		"level=debug"}} {
		for _, n := range nodes {
			n.mu.Lock()
			n.asked = nil
			n.mu.Unlock()
		}
		if r := call(t, cmdline.System{}, nodes, append(threeNodes(), args...)...); !slices.Equal(sentTo(nodes),
			[]int{1, 1, 1}) {
			t.Errorf("%v: sent to %v: %s%s", args, sentTo(nodes), r.out, r.errors)
		}
	}
	nodes[0].answers[added] = &api.Error{Status: 409, Message: "it is there already"}
	r := ask(t, "domains add shop.example.com", nodes...)
	if r.code != fleet.Degraded || !strings.Contains(r.errors, "it is there already") {
		t.Errorf("a refusal: exit %d, %s%s", r.code, r.out, r.errors)
	}
}

// If the queried node does not know an agent, the command tries all nodes.
func TestShare_WhatTheToldNodeDoesNotKnowGoesToEach(t *testing.T) {
	nodes := startNodes(t, 3)
	replicating(nodes, 0, false)
	nodes[0].answers["DELETE /api/v1/overwatch/agents/eu-1"] = &api.Error{Status: 404, Message: "no agent is pinned"}
	r := ask(t, "agents unpin eu-1 --yes --force", nodes...)
	if r.code != fleet.OK || !slices.Equal(sentTo(nodes), []int{2, 1, 1}) {
		t.Errorf("exit %d, sent to %v: %s%s", r.code, sentTo(nodes), r.out, r.errors)
	}
}

// If a node fails during a change, the command tries the next node, which may already have received the change from the
// first node.
func TestShare_TheNextNodeIsToldWhereOneBreaksOff(t *testing.T) {
	const request = "POST /api/v1/domains"
	for _, tc := range []struct {
		name  string
		next  any
		code  int
		words []string
	}{
		{"the next takes it", nil, fleet.OK, []string{"gslbctl: no answer from", "is answered", "ns3: has the change"}},
		{"the next has it", &api.Error{Status: 409, Message: "domain shop.example.com exists"}, 1,
			[]string{"domain shop.example.com exists", "it may have made the change, so look before you repeat it"}},
		{"it dies too", breaksOff, fleet.OK, []string{"is answered"}},
	} {
		nodes := startNodes(t, 3)
		replicating(nodes, 0, false)
		nodes[0].answers[request] = breaksOff
		want := []int{1, 1, 0}
		if tc.next != nil {
			nodes[1].answers[request] = tc.next
		}
		if tc.next == breaksOff {
			want[2] = 1
		}
		r := ask(t, "domains add shop.example.com", nodes...)
		if r.code != tc.code || !slices.Equal(sentTo(nodes), want) {
			t.Errorf("%s: exit %d, sent to %v: %s%s", tc.name, r.code, sentTo(nodes), r.out, r.errors)
		}
		for _, word := range tc.words {
			if !strings.Contains(r.out+r.errors, word) {
				t.Errorf("%s: no %q in %s%s", tc.name, word, r.out, r.errors)
			}
		}
	}
}
