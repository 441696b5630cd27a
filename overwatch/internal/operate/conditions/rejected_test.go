package conditions // inside: it uses peersWait and firstAnswerWait

import (
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/shared/api"
)

// A reinstalled node is not ready while its peers serve names that have no backend on it, for peersWait at most. It is
// ready as soon as it serves the names, and stays ready if it loses them later.
func TestReadiness_WaitsForTheNamesOfPeers(t *testing.T) {
	inNode(t, func(n *node) {
		pending, served := true, []string(nil)
		n.o.PeersServe = func() ([]string, bool) { return served, pending }
		want := func(when string, ready bool, words string) {
			t.Helper()
			if r := n.Readiness(); r.Ready != ready || !strings.Contains(r.Message, words) {
				t.Errorf("%s: %+v", when, r)
			}
		}
		n.have("a.example 1 h")
		want("before the first answer", false, "have not answered yet")
		time.Sleep(firstAnswerWait) // virtual
		want("without an answer", true, "")
		served, pending = []string{"a.example", "b.example", "not-here.example"}, false
		want("without a backend of b.example", false, "1 names that have no backend here yet")
		n.have("a.example 1 h", "b.example 2 h")
		want("with one", true, "")
		n.have("a.example 1 u", "b.example 2 u")
		want("after all have failed", true, "")
	})
	inNode(t, func(n *node) {
		n.o.PeersServe = func() ([]string, bool) { return []string{"b.example"}, false }
		if n.Readiness().Ready {
			t.Error("ready without a backend")
		}
		time.Sleep(peersWait) // virtual
		if !n.Readiness().Ready {
			t.Error("not ready after the bound")
		}
	})
}

// If agents reject the certificate of another node, the condition has the ID of that node.
func TestConditions_NameANodeThatAgentsReject(t *testing.T) {
	inNode(t, func(n *node) {
		n.o.Rejected = func() []gossip.RejectedNode {
			return []gossip.RejectedNode{{NodeID: "ow-2", Agents: []string{"a1", "a2", "a3", "a4", "a5"}}}
		}
		n.have("a.example 1 h", "b.example 2 h")
		list := n.Conditions()
		if len(list) != 1 || list[0].Kind != api.NodeRejected || list[0].Subject != "ow-2" || !strings.HasPrefix(
			list[0].Sentence, "a1, a2, a3 and 2 more agents reject the certificate of node ow-2 (sha256:000000000000...)") {
			t.Errorf("%+v", list)
		}
	})
}
